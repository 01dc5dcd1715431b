/// The request that says which conversation the phone shows (CONTRACT §3).
enum PresenceRequests {
    private struct Presence: Encodable {
        enum CodingKeys: String, CodingKey { case conversation = "conversation_id" }

        let conversation: String?

        /// Writes null for no conversation: without the field, the API refuses the request.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(conversation, forKey: .conversation)
        }
    }

    /// Says which conversation is on the screen, for 45 seconds; nil ends that.
    ///
    /// - Parameter installation: The push token, which names the installation of an account of a Firebase project.
    static func show(_ conversation: String?, installation: String? = nil) -> APIRequest<Void> {
        var request = APIRequest<Void>(
            method: "PUT", path: "/v1/users/me/presence", body: .json(WireJSON.data(Presence(conversation: conversation))),
            timeout: .seconds(10), maxAnswerBytes: 1 << 16, decode: { _ in })
        request.headers[DeviceRequests.installationHeader] = installation
        return request
    }
}
