public import FoundationEssentials
internal import HTTPClient

extension Phone {
    /// Signs a person in with Firebase, and returns the ID token as Firebase's SDK gives it to the app.
    ///
    /// - Parameter time: When the person signed in; nil for now.
    public func idToken(of subject: String, signedInAt time: Date? = nil) async throws -> String {
        let signedIn = time.map { #","auth_time":\#(Int($0.timeIntervalSince1970))"# } ?? ""
        let body = Array(#"{"subject":"\#(subject)"\#(signedIn)}"#.utf8)
        let request = HTTPClientRequest(
            method: "POST", url: stack.fcmURL + "/control/firebase/tokens", body: body, timeout: .seconds(100))
        let answer = JSONAnswer.parse(try await stack.http.execute(request).body)
        guard let token = answer["id_token"].text else {
            throw DeadlineExceeded(description: "the emulator gave no ID token: \(answer)")
        }
        return token
    }

    /// Registers the phone's push token.
    public func register(bearer: String) async throws -> Answer {
        try await post("/v1/users/device-token", json: #"{"device_token":"\#(token)","platform":"ios"}"#, bearer: bearer)
    }
}
