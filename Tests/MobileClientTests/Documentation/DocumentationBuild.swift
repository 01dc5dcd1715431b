import Foundation
import Testing

/// What `deploy/local/mobile-docs.sh` makes of the checkout: the documentation, and the modules of `Tests/AppleStubs` with the client's,
/// which Swift is checked against. It is made once for all tests.
struct DocumentationBuild: Sendable {
    static let shared = Task { try await DocumentationBuild() }

    /// In the checkout and not with the system's temporary files, where nothing would remove it after the last test.
    private static let folder = PushSamples.root.appending(path: ".build/docs/mobile-client-tests")

    /// The exit status of the script, and what it printed.
    let made: (status: Int32, output: String)

    private init() async throws {
        let script = PushSamples.root.appending(path: "deploy/local/mobile-docs.sh")
        made = try await Self.run([script.path, Self.folder.path])
    }

    /// The pages that were made, as paths below the site.
    var pages: Set<String> {
        let data = Self.folder.appending(path: "site/data")
        let names = FileManager.default.enumerator(atPath: data.path)?.compactMap { $0 as? String } ?? []
        return Set(names.filter { $0.hasSuffix(".json") })
    }

    /// What Apple's systems have and Linux has not, as a file of the module that is checked.
    static let appleOnly = PushSamples.root.appending(path: "Tests/AppleStubs/App/AppleOnly.swift")

    /// Checks files as one module of an app. Returns what the compiler has against them.
    func errors(in files: [String: String]) async throws -> String {
        let work = try TemporaryFolder()
        let sources = files.map { (work.url.appending(path: $0), $1) }
        for (url, text) in sources { try Data(text.utf8).write(to: url) }
        return try await Self.check(sources.map(\.0.path).sorted() + [Self.appleOnly.path], as: "SomeApp")
    }

    /// Checks the client's own files with the settings of its package. Returns what the compiler has against them.
    func errors(inModule files: [String]) async throws -> String {
        let features = [
            "ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault", "InferIsolatedConformances",
            "NonisolatedNonsendingByDefault",
        ]
        return try await Self.check(
            ["-warnings-as-errors"] + features.flatMap { ["-enable-upcoming-feature", $0] } + files, as: "MobileClient")
    }

    /// Checks types, and what Swift 6 checks after them: that no value reaches two isolation domains.
    private static func check(_ arguments: [String], as module: String) async throws -> String {
        let work = try TemporaryFolder()
        let checked = try await run(
            ["swiftc", "-emit-sil", "-wmo", "-parse-as-library", "-swift-version", "6", "-module-name", module]
                + ["-o", work.url.appending(path: "out.sil").path, "-I", folder.appending(path: "modules").path] + arguments)
        return checked.status == 0 ? "" : "exit status \(checked.status)\n\(checked.output)"
    }

    private static func run(_ command: [String]) async throws -> (status: Int32, output: String) {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "output")
        try Data().write(to: file)
        let output = try FileHandle(forWritingTo: file)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        (process.standardOutput, process.standardError) = (output, output)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        return (process.terminationStatus, try String(contentsOf: file, encoding: .utf8))
    }
}
