// The entry points that libFuzzer calls. FUZZ_TARGET names the target; libFuzzer reads the command line itself. The checks are in
// Tests/FuzzTests; deploy/verify/fuzz.sh compiles them with this file.
import Foundation

private let target: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        let names = FuzzTarget.all.map(\.name).joined(separator: " ")
        FileHandle.standardError.write(Data("FUZZ_TARGET is one of: \(names)\n".utf8))
        exit(2)
    }
    return target
}()

/// Checks one input. A disagreement traps, which libFuzzer reports as a crash and saves the input of.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzerTestOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
    do {
        try target.check(input)
    } catch {
        fatalError("\(target.name): \(error)")
    }
    return 0
}
