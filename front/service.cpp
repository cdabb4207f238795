//===- service.cpp - Client of the service of warm workers ----------------===//
//
// The socket is in a folder that only the user can enter. Its name is a hash of
// everything that a worker cannot change from job to job: incc's files, the
// user, limits, namespaces, and the variables that determine where programs and
// libraries are found. Another installation or context therefore has another
// service, and a stale service gets no more jobs and exits.
//
// The process that binds the socket holds a lock on the folder, and starts the
// service with the socket as an open file. Connections that are made from then
// on wait in the socket's queue.
//
//===----------------------------------------------------------------------===//

#include "service.h"

#include "blake2b.h"
#include "files.h"
#include "job.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace incc;

extern char **environ;

namespace {

/// Seconds without an answer before a job is taken back: from a service that does not start or is
/// busy with other jobs, and from a worker that uses no processor time.
constexpr int Patience = 30;

/// Prefixes of variables that a worker cannot take from each job, because programs and libraries
/// read them only at start-up.
constexpr std::string_view InheritedVariables[] = {"PATH=", "HOME=",  "LANG",          "LC_",
                                                   "LD_",   "XDG_",   "MALLOC_",       "GLIBC_",
                                                   "ASAN_", "UBSAN_", "INCC_KEY_FILE="};

/// Returns the folder of sockets, "" if there is none that only this user can enter.
std::string runFolder() {
  constexpr size_t MaxBaseLength = 70;
  std::string Base = variable("XDG_RUNTIME_DIR");
  bool Usable = Base.starts_with('/') && Base.size() < MaxBaseLength;
  std::string Folder = Usable ? Base + "/incc" : "/tmp/incc-run-" + std::to_string(geteuid());
  if (mkdir(Folder.c_str(), 0700) != 0 && errno != EEXIST)
    return "";
  struct stat Status;
  bool Own = lstat(Folder.c_str(), &Status) == 0 && S_ISDIR(Status.st_mode) &&
             Status.st_uid == geteuid() && (Status.st_mode & 077) == 0;
  return Own ? Folder : "";
}

/// Returns a hash of everything that a worker inherits at its start.
std::string contextOf(const Python &Python) {
  Blake2b Hash(/*Size=*/12);
  Hash.addField(installation(Python));
  for (char **Entry = environ; *Entry; ++Entry)
    if (std::any_of(std::begin(InheritedVariables), std::end(InheritedVariables),
                    [&](std::string_view Beginning) {
                      return std::string_view(*Entry).starts_with(Beginning);
                    }))
      Hash.addField(*Entry);
  for (const char *Name : {"mnt", "pid", "user", "net", "cgroup", "time_for_children"}) {
    struct stat Status;
    if (stat((std::string("/proc/self/ns/") + Name).c_str(), &Status) == 0)
      Hash.add(std::to_string(Status.st_ino) + ";");
  }
  struct stat Root;
  if (stat("/", &Root) == 0)
    Hash.add(std::to_string(Root.st_dev) + ":" + std::to_string(Root.st_ino) + ";");
  for (const char *File : {"/proc/self/limits", "/proc/self/cgroup", "/proc/self/attr/current"}) {
    std::string Text;
    readFile(File, Text);
    Hash.addField(Text);
  }
  // Users, capabilities, umask and processors.
  std::string Text;
  readFile("/proc/self/status", Text);
  for (size_t Start = 0, End; (End = Text.find('\n', Start)) != Text.npos; Start = End + 1) {
    std::string_view Line(Text.data() + Start, End - Start);
    for (std::string_view Name :
         {"Umask:", "Uid:", "Gid:", "Groups:", "Cap", "NoNewPrivs:", "Seccomp", "Cpus_", "Mems_"})
      if (Line.starts_with(Name))
        Hash.addField(Line);
  }
  return Hash.hex();
}

/// Returns the fields of /proc/PROCESS/stat from the third on: state, parent, group, session …
Words statOf(pid_t Process) {
  std::string Text;
  Words Result;
  readFile("/proc/" + std::to_string(Process) + "/stat", Text);
  size_t Start = Text.rfind(") ");
  for (Start = Start == Text.npos ? Text.size() : Start + 2; Start < Text.size();) {
    size_t End = std::min(Text.find(' ', Start), Text.size());
    Result.push_back(Text.substr(Start, End - Start));
    Start = End + 1;
  }
  return Result;
}

/// Returns the process group of the outermost process in this session below the session's leader.
/// That is the build's group, even if the build starts each compilation in a group of its own.
pid_t groupOfBuild() {
  pid_t Session = getsid(0), Process = getpid(), Group = getpgrp();
  while (Process != Session) {
    Words Stat = statOf(Process);
    if (Stat.size() < 4 || std::to_string(Session) != Stat[3])
      break;
    Group = atoi(Stat[2].c_str());
    Process = atoi(Stat[1].c_str());
  }
  return Group;
}

bool setAddress(sockaddr_un &Address, const std::string &Path) {
  Address = {};
  Address.sun_family = AF_UNIX;
  if (Path.size() >= sizeof Address.sun_path)
    return false;
  memcpy(Address.sun_path, Path.c_str(), Path.size());
  return true;
}

int openSocket() {
  int Socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // Do not use the number of a standard stream that happens to be closed.
  int Moved = Socket < 0 ? -1 : fcntl(Socket, F_DUPFD_CLOEXEC, 3);
  if (Socket >= 0)
    close(Socket);
  return Moved;
}

/// Removes the sockets of killed services from a locked folder.
void removeDeadSockets(const std::string &Folder) {
  // The attempt to connect a datagram socket fails in any case, because services listen on stream
  // sockets. A live service does not notice it, and only a dead one's socket gives ECONNREFUSED.
  int Socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  DIR *Files = Socket < 0 ? nullptr : opendir(Folder.c_str());
  while (dirent *File = Files ? readdir(Files) : nullptr) {
    std::string Path = Folder + "/" + File->d_name;
    sockaddr_un Address;
    struct stat Status;
    if (lstat(Path.c_str(), &Status) == 0 && S_ISSOCK(Status.st_mode) &&
        setAddress(Address, Path) &&
        connect(Socket, reinterpret_cast<sockaddr *>(&Address), sizeof Address) != 0 &&
        errno == ECONNREFUSED)
      unlink(Path.c_str());
  }
  if (Files)
    closedir(Files);
  if (Socket >= 0)
    close(Socket);
}

/// Connects to a service of this user. Returns -1 if there is none.
int connectTo(const std::string &Path) {
  sockaddr_un Address;
  int Socket = setAddress(Address, Path) ? openSocket() : -1;
  if (Socket < 0)
    return -1;
  timeval Limit = {Patience, 0};
  setsockopt(Socket, SOL_SOCKET, SO_SNDTIMEO, &Limit, sizeof Limit);
  ucred Peer;
  socklen_t Size = sizeof Peer;
  if (connect(Socket, reinterpret_cast<sockaddr *>(&Address), sizeof Address) == 0 &&
      getsockopt(Socket, SOL_SOCKET, SO_PEERCRED, &Peer, &Size) == 0 && Peer.uid == geteuid())
    return Socket;
  close(Socket);
  return -1;
}

/// Closes all open files except the standard streams and `Keep`.
void closeOthers(int Keep) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, 3U, static_cast<unsigned>(Keep) - 1, 0) == 0 || Keep == 3)
    if (syscall(SYS_close_range, static_cast<unsigned>(Keep) + 1, ~0U, 0) == 0)
      return;
#endif
  for (int File = 3, Most = static_cast<int>(sysconf(_SC_OPEN_MAX)); File < Most; ++File)
    if (File != Keep)
      close(File);
}

/// Starts the service with a listening socket. The service has no terminal, no parent in the build,
/// and none of the build's files open.
bool startService(const Python &Python, int Listener) {
  Words Argv = pythonCommand(Python, "job", "serve", {std::to_string(Listener)});
  pid_t Process = fork();
  if (Process == 0) {
    setsid();
    if (fork() != 0)
      _exit(0);
    for (int Signal = 1; Signal < NSIG; ++Signal)
      signal(Signal, SIG_DFL);
    sigset_t None;
    sigemptyset(&None);
    sigprocmask(SIG_SETMASK, &None, nullptr);
    int Null = open("/dev/null", O_RDWR);
    for (int Stream : {0, 1, 2})
      if (Null != Stream)
        dup2(Null, Stream);
    closeOthers(Listener);
    fcntl(Listener, F_SETFD, 0);
    if (chdir("/") == 0)
      execv(Python.Interpreter.c_str(), pointers(Argv).data());
    _exit(127);
  }
  if (Process < 0)
    return false;
  int Status;
  while (waitpid(Process, &Status, 0) < 0 && errno == EINTR)
    ;
  return true;
}

/// Connects to the service, and starts it first if necessary. Returns -1 if that fails.
int connectOrStart(const Python &Python) {
  std::string Folder = runFolder();
  if (Folder.empty())
    return -1;
  std::string Path = Folder + "/" + contextOf(Python);
  int Socket = connectTo(Path);
  if (Socket >= 0)
    return Socket;
  int Lock = open(Folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (Lock < 0)
    return -1;
  // Others hold the lock only briefly.
  bool Locked = false;
  for (int Try = 0; Try < 200 && !(Locked = flock(Lock, LOCK_EX | LOCK_NB) == 0); ++Try)
    usleep(5000);
  // Another compilation may have started it meanwhile.
  if (Locked && (Socket = connectTo(Path)) < 0) {
    removeDeadSockets(Folder);
    unlink(Path.c_str());
    sockaddr_un Address;
    int Listener = setAddress(Address, Path) ? openSocket() : -1;
    if (Listener >= 0) {
      mode_t Before = umask(0177);
      bool Bound = bind(Listener, reinterpret_cast<sockaddr *>(&Address), sizeof Address) == 0;
      umask(Before);
      if (Bound && listen(Listener, SOMAXCONN) == 0 && startService(Python, Listener))
        Socket = connectTo(Path);
      else if (Bound)
        unlink(Path.c_str());
      close(Listener);
    }
  }
  close(Lock);
  return Socket;
}

/// Sends a text, with our standard output and error as open files if `Streams`.
bool send(int Socket, const std::string &Text, bool Streams) {
  iovec Part = {const_cast<char *>(Text.data()), Text.size()};
  msghdr Message = {};
  Message.msg_iov = &Part;
  Message.msg_iovlen = 1;
  alignas(cmsghdr) char Control[CMSG_SPACE(2 * sizeof(int))] = {};
  if (Streams) {
    Message.msg_control = Control;
    Message.msg_controllen = sizeof Control;
    cmsghdr *Head = CMSG_FIRSTHDR(&Message);
    Head->cmsg_level = SOL_SOCKET;
    Head->cmsg_type = SCM_RIGHTS;
    Head->cmsg_len = CMSG_LEN(2 * sizeof(int));
    const int Numbers[] = {1, 2};
    memcpy(CMSG_DATA(Head), Numbers, sizeof Numbers);
  }
  ssize_t Sent = sendmsg(Socket, &Message, MSG_NOSIGNAL);
  return Sent > 0 && (static_cast<size_t>(Sent) == Text.size() ||
                      send(Socket, Text.substr(Sent), /*Streams=*/false));
}

/// Returns the request: its size, then the job's folder, the build's process group, and our
/// environment.
std::string requestOf(const std::string &Scratch, bool Shown) {
  std::string Text = Scratch + '\0' + std::to_string(groupOfBuild()) + '\0' + (Shown ? '1' : '0');
  for (char **Entry = environ; *Entry; ++Entry)
    Text += '\0' + std::string(*Entry);
  char Size[16];
  snprintf(Size, sizeof Size, "%08zx", Text.size());
  return Size + Text;
}

/// Returns the processor time of a process and its ended children, in ticks; "" if the process has
/// ended or is stopped.
std::string progressOf(pid_t Process) {
  Words Stat = statOf(Process);
  if (Stat.size() < 15 || Stat[0] == "T" || Stat[0] == "Z")
    return "";
  return Stat[11] + " " + Stat[12] + " " + Stat[13] + " " + Stat[14];
}

/// Returns the limit INCC_MAX_SECONDS (see driver/builds/limits.py).
long maxSeconds() {
  std::string Text = variable("INCC_MAX_SECONDS");
  bool Decimal = !Text.empty() && Text.size() < 9 && std::all_of(Text.begin(), Text.end(), isdigit);
  return Decimal ? atol(Text.c_str()) : 600;
}

/// Waits for the two lines of the answer: "A" and the worker's process number when it takes the
/// job, then the status.
Served answer(int Socket, Processes &Children, int &Status) {
  time_t Start = time(nullptr);
  std::string Answer, Progress;
  while (true) {
    int Ready = Children.waitFor(Socket, Patience * 1000);
    if (Children.interrupted())
      return Served::Interrupted;
    size_t End = Answer.find('\n');
    if (Ready == 0) {
      std::string Now = End == Answer.npos ? "" : progressOf(atoi(Answer.c_str() + 1));
      if (Now.empty() || Now == Progress) {
        // Take the job back, so that the worker leaves its files alone.
        (void)!::send(Socket, "-", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        return Served::No;
      }
      Progress = Now;
      continue;
    }
    char Buffer[32];
    ssize_t Count = recv(Socket, Buffer, sizeof Buffer, MSG_DONTWAIT);
    if (Count < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    if (Count <= 0)
      break;
    Answer.append(Buffer, Count);
    End = Answer.find('\n');
    if (End != Answer.npos && Answer.find('\n', End + 1) != Answer.npos) {
      Status = atoi(Answer.c_str() + End + 1);
      return Served::Done;
    }
  }
  long Limit = maxSeconds();
  bool Taken = Answer.find('\n') != Answer.npos;
  return Taken && Limit && time(nullptr) - Start >= Limit ? Served::TooLong : Served::No;
}

} // namespace

Served incc::serve(const Python &Python, const std::string &Scratch, bool Shown,
                   Processes &Children, int &Status) {
  if (Python.Interpreter.empty() || variable("INCC_WORKERS") == "0")
    return Served::No;
  int Socket = connectOrStart(Python);
  if (Socket < 0)
    return Served::No;
  Served Result = Served::No;
  if (send(Socket, requestOf(Scratch, Shown), Shown))
    Result = answer(Socket, Children, Status);
  close(Socket);
  return Result;
}
