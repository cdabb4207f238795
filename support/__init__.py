"""General helpers: files, errors, pools of workers."""
