internal import Foundation
internal import MobileClient

/// The control API of the emulator: push tokens, pushes, mails and ID tokens of Firebase.
struct EmulatorControl: Sendable {
    /// Why the emulator gave no usable answer.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// A push as the emulator has it.
    struct Push: Sendable {
        let token: String
        /// The message as FCM's API took it, with its id among the data as a phone gets it.
        let json: Data
        let title: String
        let body: String
        let data: [String: String]
        let receivedAt: String
        /// The picture that a phone shows with it; nil without a picture.
        let picture: String?
    }

    let url: URL
    let transport: any HTTPTransport

    /// Mints a push token.
    func newToken() async throws(Failure) -> String { try await text("token", "POST", "/control/tokens") }

    /// Gives the app of a token another one; the old one is dead.
    func rotate(_ token: String) async throws(Failure) -> String {
        try await self.text("token", "POST", "/control/tokens/\(Self.escaped(token))/rotate")
    }

    /// Signs a person in with Firebase.
    func idToken(of subject: String) async throws(Failure) -> String {
        try await text("id_token", "POST", "/control/firebase/tokens", Data("{\"subject\":\"\(subject)\"}".utf8))
    }

    /// Waits for the newest mail to an address.
    func mail(to address: String, wait: Int) async throws(Failure) -> (subject: String, text: String, to: String) {
        let answer = try await object("GET", "/control/mails?to=\(Self.escaped(address))&wait=\(wait)", timeout: wait + 15)
        guard let mail = (answer["mails"] as? [[String: Any]])?.last, let text = mail["text"] as? String else {
            throw Failure(description: "No mail came to \(address) within \(wait) s")
        }
        return (mail["subject"] as? String ?? "", text, (mail["to"] as? [String])?.first ?? "")
    }

    /// Waits for the code that stands beside a reference in a mail; nil without one after the wait, in seconds.
    func code(to address: String, beside reference: String, wait: Int) async throws -> String? {
        let end = ContinuousClock.now + .seconds(wait)
        repeat {
            // The emulator holds a request for a minute at most. A mail may be one for another request.
            let mail = try? await mail(to: address, wait: 30)
            if let mail, let code = Self.code(in: mail.text, for: reference) { return code }
            try await Task.sleep(for: .seconds(1))
        } while .now < end
        return nil
    }

    /// The pushes to one phone, once there is one, or after the wait.
    func pushes(to token: String, wait: Int) async throws(Failure) -> [Push] {
        let path = "/control/messages?token=\(Self.escaped(token))&wait=\(wait)&count=1"
        return Self.pushes(try await object("GET", path, timeout: wait + 15))
    }

    /// The pushes to all phones since a number, and the number to go on from.
    func pushes(after number: Int, wait: Int) async throws(Failure) -> (pushes: [Push], next: Int) {
        let answer = try await object("GET", "/control/messages?after=\(number)&wait=\(wait)", timeout: wait + 15)
        guard let next = answer["next"] as? Int else { throw Failure(description: "The emulator does not list its pushes") }
        return (Self.pushes(answer), next)
    }

    /// The code in a mail for a reference: of several the one beside it, else the first six digits in a row.
    static func code(in text: String, for reference: String) -> String? {
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(reference) ") }
        guard line != nil || text.contains(reference) else { return nil }
        return (line ?? text[...]).firstMatch(of: /(?:^|[^0-9])([0-9]{6})(?:[^0-9]|$)/).map { String($0.output.1) }
    }

    static func pushes(_ answer: [String: Any]) -> [Push] {
        (answer["messages"] as? [[String: Any]] ?? []).compactMap { item in
            guard var message = item["message"] as? [String: Any], let token = message["token"] as? String else { return nil }
            var data = message["data"] as? [String: String] ?? [:]
            let shown = message["notification"] as? [String: Any] ?? [:]
            let apns = message["apns"] as? [String: Any]
            let picture = (apns?["fcm_options"] as? [String: Any])?["image"] as? String
            let known = data
            // A phone learns FCM's id of a message by this name.
            if let name = item["name"] as? String { data["gcm.message_id"] = String(name.split(separator: "/").last ?? "") }
            message["data"] = data
            guard let json = try? JSONSerialization.data(withJSONObject: message) else { return nil }
            return Push(
                token: token, json: json, title: shown["title"] as? String ?? "", body: shown["body"] as? String ?? "", data: known,
                receivedAt: item["received_at"] as? String ?? "", picture: picture)
        }
    }

    private func text(_ name: String, _ method: String, _ path: String, _ body: Data? = nil) async throws(Failure) -> String {
        guard let text = try await object(method, path, body)[name] as? String else {
            throw Failure(description: "The answer to \(method) \(path) has no \(name)")
        }
        return text
    }

    private func object(_ method: String, _ path: String, _ body: Data? = nil, timeout: Int = 15) async throws(Failure) -> [String: Any] {
        guard let target = URL(string: url.absoluteString + path) else { throw Failure(description: "\(path) is no path") }
        let request = TransportRequest(method, target, body: body.map { .data($0) } ?? .none, timeout: .seconds(timeout))
        let answer: TransportResponse
        do throws(TransportError) { answer = try await transport.send(request, maxBytes: 64 << 20) } catch {
            throw Failure(description: "The emulator at \(url.absoluteString) does not answer: \(error)")
        }
        guard 200...299 ~= answer.status, let object = try? JSONSerialization.jsonObject(with: answer.body) as? [String: Any] else {
            throw Failure(description: "The emulator answers \(method) \(path) with \(answer.status)")
        }
        return object
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~"))) ?? text
    }
}
