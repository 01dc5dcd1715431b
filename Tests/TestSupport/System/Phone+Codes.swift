internal import HTTPClient

/// The codes that are mailed to the person of a phone.
extension Phone {
    /// Signs up with an e-mail and proves it by the code that is mailed: makes the account.
    ///
    /// - Returns: The answer to the upload, and the account's id.
    public func enrol(email: String) async throws -> (upload: Answer, userID: String) {
        let upload = try await signUp(email: email)
        let record = try await outcome(of: upload)
        guard let verification = record["verification_id"].text else {
            throw DeadlineExceeded(description: "no verification: \(record)")
        }
        let verified = try await verify(verification, code: try await mailedCode(to: email, for: record["reference"].text))
        guard let user = verified.body["data"]["user_id"].text else {
            throw DeadlineExceeded(description: "the code was not taken: \(verified.body)")
        }
        return (upload, user)
    }

    /// Enters a code.
    public func verify(_ verification: String, code: String) async throws -> Answer {
        try await post("/v1/auth/verify", json: #"{"verification_id":"\#(verification)","code":"\#(code)"}"#)
    }

    /// Returns the number of mails to an address so far.
    public func mailCount(to email: String) async throws -> Int {
        let request = HTTPClientRequest(url: "\(stack.fcmURL)/control/mails?to=\(email)", timeout: .seconds(100))
        return JSONAnswer.parse(try await stack.http.execute(request).body)["mails"].elements.count
    }

    /// Waits for the mail number `count` to an address, and returns the code in it.
    ///
    /// - Parameter reference: What the request for the code was answered with; nil takes the first code.
    public func mailedCode(to email: String, for reference: String? = nil, count: Int = 1) async throws -> String {
        try await eventually("a code is mailed; identity-api: \(stack.tail(of: "identity-api"))") {
            let url = "\(stack.fcmURL)/control/mails?to=\(email)&count=\(count)&wait=5"
            let answer = try await stack.http.execute(HTTPClientRequest(url: url, timeout: .seconds(100)))
            let mails = JSONAnswer.parse(answer.body)["mails"].elements
            guard mails.count >= count, let text = mails.last?["text"].text, reference.map({ text.contains($0) }) ?? true,
                let code = (text.split(separator: "\n").first { $0.hasPrefix("\(reference ?? "-") ") } ?? text[...])
                    .firstMatch(of: #/[0-9]{6}/#)
            else { return nil }
            return String(code.output)
        }
    }

    /// Exchanges a sign-in that succeeded for tokens: with the code that is mailed if the phone is new to the account. The time between
    /// two mails to an address is not part of this.
    ///
    /// - Parameter device: The key of the phone, which the sign-in was uploaded with.
    public func redeem(_ login: Answer, email: String, by device: DeviceSigner? = nil) async throws -> Answer {
        let path = "/api/v1/ekyc/sessions/\(login.sessionID)/token"
        // Of this address alone: the codes of a mail that is on its way end with its row.
        try await stack.database.psql(
            "DELETE FROM code_mails m USING sessions s JOIN email_lookups l ON l.user_id = s.user_id "
                + "WHERE s.id = '\(login.sessionID)' AND m.email_lookups @> ARRAY[l.lookup] AND m.requested_at IS NOT NULL")
        let mails = try await mailCount(to: email)
        let answer = try await send("POST", path, bearer: login.sessionToken, by: device)
        guard answer.body["error"]["code"].text == "verification_required" else { return answer }
        let code = try await mailedCode(to: email, for: answer.body["error"]["reference"].text, count: mails + 1)
        return try await send("POST", path, json: #"{"code":"\#(code)"}"#, bearer: login.sessionToken, by: device)
    }
}
