// Writes the scripts and styles of the page, which are part of the package: make page
import {build} from "esbuild";

await build({
  entryPoints: {page: "src/main.js", token: "src/token.js"},
  outdir: "../static",
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome110", "firefox115", "safari16.4"],
  loader: {".c": "text", ".cpp": "text", ".f90": "text", ".s": "text"},
  legalComments: "linked",
  logLevel: "warning",
});
