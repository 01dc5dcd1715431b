/// The reason why a mail was not sent, as far as it is known.
public struct MailError: Error, CustomStringConvertible {
    /// What is to be done about it.
    public enum Code: String, Sendable, CaseIterable {
        /// This mail will never be accepted: its recipient does not exist or refuses it, or the message itself is invalid.
        case recipientRefused = "recipient_refused"
        /// The server does not answer, or asks to try later; or the task was cancelled, or the client is busy or was shut down.
        case unavailable
        /// No mail can be sent until an operator acts: TLS, authentication, the sender's address.
        case misconfigured
    }

    /// What is to be done about it.
    public let code: Code
    /// A sentence for the log, without the address, the subject and the text.
    public let message: String
    /// The server's reply code (RFC 5321 § 4.2), if a reply was the reason.
    public let reply: Int?
    /// libcurl's error code, when libcurl failed.
    public let curlCode: Int?

    /// Makes an error; senders of tests make them too.
    public init(_ code: Code, _ message: String, reply: Int? = nil, curlCode: Int? = nil) {
        self.code = code
        self.message = message
        self.reply = reply
        self.curlCode = curlCode
    }

    /// The code and the message, for logs.
    public var description: String {
        let codes = [reply.map { "reply \($0)" }, curlCode.map { "curl \($0)" }].compactMap(\.self)
        return "\(code.rawValue): \(message)" + (codes.isEmpty ? "" : " (\(codes.joined(separator: ", ")))")
    }
}
