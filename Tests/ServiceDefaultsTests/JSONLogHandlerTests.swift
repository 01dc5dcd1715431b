import Foundation
import Logging
import ServiceDefaults
import Synchronization
import Testing

@Suite struct JSONLogHandlerTests {
    private final class Lines: Sendable {
        let all = Mutex<[[UInt8]]>([])
        func logger() -> Logger {
            var logger = Logger(label: "test") { label in
                JSONLogHandler(service: "notifier", label: label, level: .info) { line in self.all.withLock { $0.append(line) } }
            }
            logger[metadataKey: "request_id"] = "r-1"
            return logger
        }
        func only() throws -> [String: String] {
            let line = try #require(all.withLock { $0.first })
            #expect(line.last == UInt8(ascii: "\n"))
            return try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: String])
        }
    }

    @Test func `a line is one JSON object with its metadata beside the message`() throws {
        let lines = Lines()
        lines.logger().info("sent", metadata: ["kind": "sign_in"])
        let object = try lines.only()
        #expect(object["msg"] == "sent")
        #expect(object["service"] == "notifier")
        #expect(object["level"] == "info")
        #expect(object["kind"] == "sign_in")
        #expect(object["request_id"] == "r-1")
    }

    @Test func `quotes, newlines and control characters are escaped`() throws {
        let lines = Lines()
        let nasty = "a \"b\" \\ \n \u{1} é 🎨"
        lines.logger().error("\(nasty)")
        #expect(try lines.only()["msg"] == nasty)
    }

    @Test func `a line below the level is not written`() {
        let lines = Lines()
        lines.logger().debug("noise")
        #expect(lines.all.withLock { $0.isEmpty })
    }

    @Test(arguments: ["x", "é", "\n", "\"", "🎨", "\u{2}"])
    func `a line that is too long is cut and stays JSON`(filler: String) throws {
        for padding in 0..<7 {
            let lines = Lines()
            let text = String(repeating: "-", count: padding) + String(repeating: filler, count: 20_000)
            lines.logger().info("\(text)")
            let object = try lines.only()
            #expect(object["cut"] == "true")
            #expect(lines.all.withLock { $0[0].count } <= JSONLogHandler.maxLineBytes + 32)
        }
    }

    @Test func `a line that is cut at its metadata stays JSON`() throws {
        for length in (JSONLogHandler.maxLineBytes - 300)..<JSONLogHandler.maxLineBytes {
            let lines = Lines()
            let metadata: Logger.Metadata = ["kind": "sign_in", "sessions": "\"1\", \"2\"", "x": "\(String(repeating: "é", count: 200))"]
            lines.logger().info("\(String(repeating: "m", count: length))", metadata: metadata)
            #expect(try lines.only()["cut"] == "true")
        }
    }
}
