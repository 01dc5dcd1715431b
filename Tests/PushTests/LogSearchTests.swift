import Foundation
import TestSupport
import Testing

/// The search of all logs at the end of a test run finds secrets.
@Suite struct LogSearchTests {
    @Test(arguments: ["services/a.log", "ATests.log"])
    func `the search of a run's logs finds a secret that was planted`(_ file: String) async throws {
        let folder = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: folder.path + "/services", withIntermediateDirectories: true)
        let script = PackageRoot.path + "/deploy/local/grep-logs.sh"
        func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: "\(folder.path)/\(file)")) }
        try write(#"{"message":"notification sent"}"# + "\n")
        try await CommandLineTool.run([script, folder.path])
        try write(#"{"message":"sent \#(ServiceLogs.secretWord)"}"# + "\n")
        await #expect(throws: CommandLineTool.Failure.self) { try await CommandLineTool.run([script, folder.path]) }
    }
}
