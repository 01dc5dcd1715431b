internal import BuildVersion
internal import Imaging
internal import Sandbox

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Decodes pictures for a worker, which starts this program with the mode of its sandbox as the only argument.
@main
private enum ImageDecoderProgram {
    static func main() {
        if CommandLine.arguments.dropFirst() == ["--version"] { return print(HeliographVersion.current) }
        guard CommandLine.arguments.count == 2, let mode = SandboxMode(rawValue: CommandLine.arguments[1]) else {
            print("image-decoder is started by face-matching-worker and image-worker")
            exit(EX_USAGE)
        }
        exit(
            DecoderService.run(mode) {
                guard Sandbox.limitResources(memory: DecoderService.maxMemory) else {
                    return .unsupported(reason: "its resources cannot be limited")
                }
                guard mode != .off else { return .off }
                switch Sandbox.enter() {
                case .entered: return .entered
                case .unsupported(let reason): return .unsupported(reason: reason)
                }
            })
    }
}
