import Foundation
import HTTPClient
import Multipart
import TestSupport

extension Phone {
    /// Asks for a code.
    func register(_ email: String) async throws -> Answer { try await post("/v1/auth/register", json: #"{"email":"\#(email)"}"#) }

    /// Proves an e-mail, and returns the enrolment token. The time between two mails to an address is not part of this.
    func proof(of email: String) async throws -> String {
        try await stack.database.psql("DELETE FROM code_mails WHERE requested_at IS NOT NULL")
        guard let proven = try await prove(email, within: .seconds(60)), let token = proven.answer.body["data"]["enrolment_token"].text
        else { throw DeadlineExceeded(description: "no code came that is taken") }
        return token
    }

    /// Asks for a code, waits for its mail, and enters it.
    ///
    /// A mail may have the codes of several requests, each beside the reference that the answer to the request has. Without a reference
    /// each new mail has one code, which may be that of another request.
    ///
    /// - Returns: The answer to the code, and the time from the request to the mail; nil when no code was taken in time.
    func prove(_ email: String, within limit: Duration) async throws -> (answer: Answer, time: Duration)? {
        var seen = try await mailCount(to: email)
        let start = ContinuousClock.now
        let registration = try await register(email)
        guard let id = registration.body["data"]["verification_id"].text else { return nil }
        while ContinuousClock.now < start + limit {
            let url = "\(stack.fcmURL)/control/mails?to=\(email)&count=\(seen + 1)&wait=1"
            let answer = try await stack.http.execute(HTTPClientRequest(url: url, timeout: .seconds(100)))
            let time = ContinuousClock.now - start
            let texts = JSONAnswer.parse(answer.body)["mails"].elements.compactMap { $0["text"].text }
            for text in texts.dropFirst(seen) {
                guard let code = Self.code(in: text, for: registration.body["data"]["reference"].text) else { continue }
                let entered = try await verify(id, code: code)
                if entered.status == 200 { return (entered, time) }
            }
            seen = max(seen, texts.count)
        }
        return nil
    }

    /// Finds the code of a request in a mail: on the line of its reference, or below it.
    private static func code(in text: String, for reference: String?) -> String? {
        guard let reference else { return code(in: text[...]) }
        guard let found = text.range(of: reference) else { return nil }
        let line = text.lineRange(for: found)
        let places = [text[found.upperBound..<line.upperBound], text[line.lowerBound..<found.lowerBound], text[line.upperBound...]]
        return places.lazy.compactMap { code(in: $0) }.first
    }

    private static func code(in text: Substring) -> String? { text.firstMatch(of: #/\b[0-9]{6}\b/#).map { String($0.output) } }

    /// Waits until a push has come that fits, and returns all.
    func pushes(until fits: @Sendable (JSONAnswer) -> Bool) async throws -> [JSONAnswer] {
        var count = 1
        while true {
            let pushes = try await pushes(count: count)
            if pushes.contains(where: fits) { return pushes }
            count = pushes.count + 1
        }
    }
}
