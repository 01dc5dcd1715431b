import Foundation
import Testing

@testable import MobileClient

@Suite struct ExportTests {
    private static let end: [UInt8] = [0x50, 0x4B, 0x05, 0x06] + [UInt8](repeating: 0, count: 18)
    private static let whole: [UInt8] = [0x50, 0x4B, 0x03, 0x04] + [UInt8](repeating: 7, count: 100) + end

    private func export(_ body: [UInt8], to file: URL) async throws(HeliographError) {
        let sender = ScriptedSender { _ throws(HeliographError) in TransportResponse(status: 200, body: Data(body)) }
        try await AccountClient(api: sender).export(to: file)
    }

    @Test func `a whole archive is left in the file`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("export.zip")
        try await export(Self.whole, to: file)
        #expect(try Data(contentsOf: file) == Data(Self.whole))
    }

    @Test(arguments: [[], Array("<html>Sign in to this Wi-Fi</html>".utf8), Array(whole.dropLast(22)), Array(whole.dropLast()), end])
    func `what is no whole archive is not left`(body: [UInt8]) async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("export.zip")
        let error = await #expect(throws: HeliographError.self) { try await export(body, to: file) }
        #expect(error?.code == .unexpectedAnswer)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func `a file that exists is not touched`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("export.zip")
        try Data("mine".utf8).write(to: file)
        let error = await #expect(throws: HeliographError.self) { try await export(Self.whole, to: file) }
        #expect(error?.code == .invalidArgument && error?.field == "file")
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
    }
}
