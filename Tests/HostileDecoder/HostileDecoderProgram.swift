import Foundation
import Imaging
import Sandbox

/// Stands in for a decoder that an attacker has taken over, in the tests of Imaging.
///
/// It enters the sandbox as `image-decoder` does. When it receives a picture it shows the behaviour that its second argument names.
/// With `survivors` or `probe` as the first argument it makes system calls there instead, and prints what becomes of them.
@main
enum HostileDecoderProgram {
    static func main() {
        switch CommandLine.arguments.dropFirst().first {
        case "survivors": return SandboxProbe.printSurvivors()
        case "probe": return CommandLine.arguments.dropFirst(2).forEach(SandboxProbe.printOutcome)
        default: break
        }
        let behaviour = CommandLine.arguments.dropFirst(2).first.flatMap(Behaviour.init)
        guard let behaviour, Sandbox.limitResources(memory: 256 << 20), Sandbox.enter() == .entered else { exit(EX_USAGE) }
        send(DecoderMessage.ready(.entered).encoded)
        var first: UInt8 = 0
        while read(0, &first, 1) == 1 {
            behaviour.show()
            // A forbidden call that came back was not forbidden.
            exit(EXIT_SUCCESS)
        }
    }
}

/// What an attacker may try.
enum Behaviour: String {
    case openFile, readProc, makeSocket, startProgram, replaceProgram, signalParent, mapExecutable, otherDescriptor
    case crash, exhaustMemory, saysNothing, endsEarly
    case tooLarge, negative, overflowing, otherSize, fourBands, tooManyRows, tooFewRows, twoPictures, longMessage, unknownMessage, badError

    func show() {
        switch self {
        case .openFile: _ = open("/etc/passwd", O_RDONLY)
        case .readProc: _ = open("/proc/self/environ", O_RDONLY)
        case .makeSocket: _ = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        case .startProgram:
            var pid: pid_t = 0
            var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
            _ = posix_spawn(&pid, "/bin/true", nil, nil, &arguments, &arguments)
        case .replaceProgram:
            var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
            _ = execve("/bin/true", &arguments, &arguments)
        case .signalParent: _ = kill(getppid(), 0)
        case .mapExecutable: _ = mmap(nil, 4_096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        case .otherDescriptor: _ = write(3, "text", 4)
        case .crash: abort()
        case .exhaustMemory:
            while let memory = malloc(16 << 20) { memset(memory, 1, 16 << 20) }
            abort()
        case .saysNothing: while true { sched_yield() }
        case .endsEarly: break
        case .tooLarge: sendSize(300_000, 200_000, 3, original: (600_000, 400_000))
        case .negative: sendSize(-300, -200, 3, original: (-600, -400))
        case .overflowing: sendSize(300, 200, 3, original: (1 << 33, 1 << 31))
        case .otherSize: sendSize(299, 200, 3, original: (600, 400))
        case .fourBands: sendSize(300, 200, 4, original: (600, 400))
        case .tooManyRows: sendRows([180_000, 3])
        case .tooFewRows: sendRows([90_000])
        case .twoPictures:
            sendSize(300, 200, 3, original: (600, 400))
            sendSize(300, 200, 3, original: (600, 400))
        case .longMessage: send(DecoderMessage.header(.failure, byteCount: 1 << 40))
        case .unknownMessage: send([UInt8](repeating: 0x41, count: 64))
        case .badError: send(DecoderMessage.header(.failure, byteCount: 2) + [0xFF, 0xFF])
        }
        if isAnswer { while true { sched_yield() } }
    }

    /// Whether it stays after an answer, so that the worker has to end it.
    private var isAnswer: Bool {
        switch self {
        case .tooLarge, .negative, .overflowing, .otherSize, .fourBands, .tooManyRows, .tooFewRows, .twoPictures, .longMessage,
            .unknownMessage, .badError:
            true
        default: false
        }
    }

    private func sendSize(_ width: Int, _ height: Int, _ bands: Int, original: (width: Int, height: Int)) {
        send(
            DecoderMessage.picture(
                DecodedSize(
                    width: width, height: height, bands: bands, originalWidth: original.width, originalHeight: original.height)
            ).encoded)
    }

    /// Sends a picture with rows of that many bytes each.
    private func sendRows(_ counts: [Int]) {
        sendSize(300, 200, 3, original: (600, 400))
        for count in counts { send(DecoderMessage.header(.rows, byteCount: count) + [UInt8](repeating: 0, count: count)) }
        send(DecoderMessage.end.encoded)
    }
}

private func send(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
        let step = bytes[sent...].withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
        guard step > 0 else { exit(EXIT_FAILURE) }
        sent += step
    }
}
