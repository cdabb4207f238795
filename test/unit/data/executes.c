/* Executes a program in the way that its first argument names: `executes WAY PROGRAM NAME ARGUMENT...`.
   Functions with a list of words take three. */
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char **given;

static int waited(pid_t process) {
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void execute(const char *way) {
  char *program = given[2], **words = given + 3;
  char *variables[] = {"PATH=/usr/bin:/bin", NULL};
  if (!strcmp(way, "execve"))
    execve(program, words, environ);
  else if (!strcmp(way, "execv"))
    execv(program, words);
  else if (!strcmp(way, "execvp"))
    execvp(program, words);
  else if (!strcmp(way, "execvpe"))
    execvpe(program, words, environ);
  else if (!strcmp(way, "execl"))
    execl(program, words[0], words[1], words[2], NULL);
  else if (!strcmp(way, "execlp"))
    execlp(program, words[0], words[1], words[2], NULL);
  else if (!strcmp(way, "execle"))
    execle(program, words[0], words[1], words[2], NULL, environ);
  else if (!strcmp(way, "cleared"))
    execve(program, words, variables);
  else if (!strcmp(way, "empty"))
    execve(program, words, NULL);
  perror(way);
  _exit(99);
}

static void *thread(void *unused) {
  (void)unused;
  if (vfork() == 0)
    execute("execve");
  return NULL;
}

int main(int count, char **arguments) {
  char *way = arguments[1];
  pid_t process;
  given = arguments;
  (void)count;
  if (!strcmp(way, "posix_spawn") || !strcmp(way, "posix_spawnp")) {
    int failed = strcmp(way, "posix_spawn") ? posix_spawnp(&process, arguments[2], NULL, NULL, arguments + 3, environ)
                                            : posix_spawn(&process, arguments[2], NULL, NULL, arguments + 3, environ);
    return failed ? 99 : waited(process);
  }
  if (!strcmp(way, "system"))
    return system(arguments[3]) >> 8;
  if (!strcmp(way, "popen"))
    return pclose(popen(arguments[3], "w")) >> 8;
  if (!strcmp(way, "threads")) {
    pthread_t threads[8];
    pthread_attr_t small;
    int worst = 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 32768);
    for (int i = 0; i < 8; ++i)
      pthread_create(&threads[i], &small, thread, NULL);
    for (int i = 0; i < 8; ++i)
      pthread_join(threads[i], NULL);
    for (int i = 0; i < 8; ++i)
      worst |= waited(-1);
    return worst;
  }
  if (!strcmp(way, "vfork")) {
    process = vfork();
    if (process == 0)
      execute("execve");
    return waited(process);
  }
  execute(way);
}
