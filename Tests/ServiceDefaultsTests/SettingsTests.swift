import Foundation
import ServiceDefaults
import Testing

@Suite struct SettingsTests {
    @Test func `a missing setting is named with its expected value`() {
        let error = #expect(throws: ConfigurationError.self) { _ = try Settings(environment: [:]).string("REDIS_URL", "a URL") }
        #expect(error?.description == "REDIS_URL is missing: it should be a URL")
    }

    @Test func `an empty setting counts as missing`() {
        #expect(throws: ConfigurationError.self) { _ = try Settings(environment: ["A_B": ""]).string("A_B", "set") }
    }

    @Test func `a setting can come from a file, as container secrets do`() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try "s3cret\n".write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let settings = Settings(environment: ["FACE_KEYS_FILE": file.path])
        #expect(try settings.string("FACE_KEYS", "keys") == "s3cret")
    }

    @Test func `an empty file counts as not set`() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let settings = Settings(environment: ["GEMINI_API_KEY_FILE": file.path])
        #expect(try settings.optionalString("GEMINI_API_KEY") == nil)
        #expect(throws: ConfigurationError.self) { _ = try settings.string("GEMINI_API_KEY", "a key") }
    }

    @Test func `a number outside its range is refused without printing it`() {
        let error = #expect(throws: ConfigurationError.self) {
            _ = try Settings(environment: ["ADMIN_PORT": "70000"]).int("ADMIN_PORT", default: 1, in: 0...65_535)
        }
        #expect(error?.description == "ADMIN_PORT is not valid: it should be a whole number from 0 to 65535")
    }

    @Test func `a default applies when nothing is set`() throws {
        let settings = Settings(environment: [:])
        #expect(try settings.int("X", default: 7, in: 1...9) == 7)
        #expect(try settings.seconds("Y", default: .milliseconds(2500), in: 0...10) == .milliseconds(2500))
    }

    @Test func `bytes in base64 must have their length`() throws {
        let settings = Settings(environment: ["K": Data(repeating: 1, count: 32).base64EncodedString(), "S": "AAA="])
        #expect(try settings.secret("K", byteCount: 32) == [UInt8](repeating: 1, count: 32))
        #expect(throws: ConfigurationError.self) { _ = try settings.secret("S", byteCount: 32) }
    }
}
