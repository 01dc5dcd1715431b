import Foundation

/// A browser, if the machine has one, which is controlled over pipes by the Chrome DevTools Protocol.
public enum Chromium {
    /// The program; nil when the machine has none.
    public static let path = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Opens a page, waits until a condition is true there, and returns the value of an expression as text.
    ///
    /// - Parameters:
    ///   - width: The width of the window in CSS pixels, which may be that of a phone.
    ///   - condition: An expression in JavaScript.
    /// - Throws: ``CommandLineTool/Failure`` when the browser ends, or the condition is not true within a minute.
    public static func value(
        of expression: String, at url: String, width: Int = 1_280, once condition: String = "document.readyState === 'complete'"
    ) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            // The reads from the browser block.
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let session = try Session(path ?? "chromium")
                        defer { session.end() }
                        return try session.value(of: expression, at: url, width: width, once: condition)
                    })
            }
        }
    }

    private final class Session {
        private let (requests, answers) = (Pipe(), Pipe())
        private let profile: TemporaryDirectory
        private let pid: pid_t
        private var (number, buffer) = (0, Data())

        init(_ program: String) throws {
            profile = try TemporaryDirectory()
            // The browser reads commands from descriptor 3 and answers on 4.
            pid = try GuardedProcess.spawn(
                [
                    "/bin/sh", "-c", #"exec "$0" "$@" 3<&0 4>&1 >/dev/null 2>&1"#, program, "--headless=new", "--no-sandbox",
                    "--disable-gpu",
                    "--disable-dev-shm-usage", "--remote-debugging-pipe", "--user-data-dir=\(profile.path)/profile",
                ],
                standardInput: requests.fileHandleForReading, standardOutput: answers.fileHandleForWriting,
                environment: ProcessInfo.processInfo.environment)
            try answers.fileHandleForWriting.close()
        }

        func value(of expression: String, at url: String, width: Int, once condition: String) throws -> String {
            let target = try call("Target.createTarget", ["url": "about:blank"])["targetId"] ?? ""
            let session = try call("Target.attachToTarget", ["targetId": target, "flatten": true])["sessionId"] as? String
            let screen: [String: Any] = ["width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500]
            _ = try call("Emulation.setDeviceMetricsOverride", screen, session)
            _ = try call("Page.navigate", ["url": url], session)
            let wait = """
                new Promise((done) => {
                  const end = Date.now() + 60000;
                  const look = () => (\(condition)) ? done(String(\(expression))) : Date.now() > end ? done(null) : setTimeout(look, 20);
                  look();
                })
                """
            let answer = try call("Runtime.evaluate", ["expression": wait, "awaitPromise": true, "returnByValue": true], session)
            guard let value = (answer["result"] as? [String: Any])?["value"] as? String else { throw failure("\(url): \(answer)") }
            return value
        }

        func end() {
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
        }

        private func call(_ method: String, _ parameters: [String: Any], _ session: String? = nil) throws -> [String: Any] {
            number += 1
            var request: [String: Any] = ["id": number, "method": method, "params": parameters]
            request["sessionId"] = session
            try requests.fileHandleForWriting.write(contentsOf: JSONSerialization.data(withJSONObject: request) + [0])
            while true {
                while let end = buffer.firstIndex(of: 0) {
                    let answer = try JSONSerialization.jsonObject(with: buffer[..<end]) as? [String: Any] ?? [:]
                    buffer = Data(buffer[(end + 1)...])
                    guard answer["id"] as? Int == number else { continue }
                    guard let result = answer["result"] as? [String: Any] else { throw failure("\(method): \(answer)") }
                    return result
                }
                let data = answers.fileHandleForReading.availableData
                guard !data.isEmpty else { throw failure("the browser has ended") }
                buffer += data
            }
        }

        private func failure(_ text: String) -> CommandLineTool.Failure {
            CommandLineTool.Failure(command: ["chromium"], exitCode: -1, output: text)
        }
    }
}
