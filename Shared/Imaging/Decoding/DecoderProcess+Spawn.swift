#if canImport(Glibc)
    internal import CLinux
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Starts a program with a socket as its standard input and output, without any other descriptor, and with an empty environment.
///
/// It gets a process group of its own, so that a signal to the worker's group does not end it in the middle of a picture. It ends by
/// itself when the worker ends, because its standard input is closed then.
func spawnDecoder(_ executable: String, _ arguments: [String]) throws(DecoderFailure) -> (pid_t, DecoderSocket) {
    var ends: [Int32] = [-1, -1]
    guard makeSocketPair(&ends) == 0 else { throw .notStarted("no socket: error \(errno)") }
    defer { close(ends[1]) }
    var actions = fileActions(standardStreams: ends[1])
    defer { posix_spawn_file_actions_destroy(&actions) }
    var attributes = attributes()
    defer { posix_spawnattr_destroy(&attributes) }
    var argv = ([executable] + arguments).map { strdup($0) } + [nil]
    defer { for text in argv { free(text) } }
    var environment: [UnsafeMutablePointer<CChar>?] = [nil]
    var pid: pid_t = 0
    let status = posix_spawn(&pid, executable, &actions, &attributes, &argv, &environment)
    guard status == 0 else {
        close(ends[0])
        throw .notStarted("\(executable): \(String(cString: strerror(status)))")
    }
    return (pid, DecoderSocket(descriptor: ends[0]))
}

private func makeSocketPair(_ ends: inout [Int32]) -> Int32 {
    #if canImport(Glibc)
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
    #else
        socketpair(AF_UNIX, SOCK_STREAM, 0, &ends)
    #endif
}

/// The standard error is discarded: a decoder that was taken over must not write into the worker's log.
private func fileActions(standardStreams socket: Int32) -> posix_spawn_file_actions_t {
    #if canImport(Glibc)
        var actions = posix_spawn_file_actions_t()
    #else
        var actions: posix_spawn_file_actions_t?
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, socket, 0)
    posix_spawn_file_actions_adddup2(&actions, socket, 1)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    #if canImport(Glibc)
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)
    #endif
    return actions
}

/// Signals are as in a new program, whatever the worker ignores or blocks.
private func attributes() -> posix_spawnattr_t {
    var signals = sigset_t()
    var flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
    #if canImport(Glibc)
        var attributes = posix_spawnattr_t()
    #else
        var attributes: posix_spawnattr_t?
        flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
    #endif
    posix_spawnattr_init(&attributes)
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(&attributes, Int16(flags))
    return attributes
}
