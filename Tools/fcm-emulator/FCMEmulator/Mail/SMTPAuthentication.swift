import FoundationEssentials

/// The credentials that a client has sent so far (RFC 4954): PLAIN (RFC 4616), or the older LOGIN, which asks for one after the other.
enum SMTPAuthentication: Equatable {
    case plain
    case loginUser
    case loginPassword(user: String)

    /// The next step after an answer.
    enum Step: Equatable {
        case ask(SMTPAuthentication)
        case found(user: String, password: String)
        case malformed
    }

    /// The beginning of a mechanism; nil for another than these two.
    init?(mechanism: String) {
        switch mechanism {
        case "PLAIN": self = .plain
        case "LOGIN": self = .loginUser
        default: return nil
        }
    }

    /// The text of the challenge, in base64.
    var challenge: String {
        switch self {
        case .plain: ""
        case .loginUser: Data("Username:".utf8).base64EncodedString()
        case .loginPassword: Data("Password:".utf8).base64EncodedString()
        }
    }

    /// Handles the answer to the challenge.
    func step(_ answer: String) -> Step {
        switch self {
        case .plain:
            // Authorization identity, authentication identity, password.
            let parts = answer.split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
            return parts.count == 3 ? .found(user: parts[1], password: parts[2]) : .malformed
        case .loginUser: return .ask(.loginPassword(user: answer))
        case .loginPassword(let user): return .found(user: user, password: answer)
        }
    }
}
