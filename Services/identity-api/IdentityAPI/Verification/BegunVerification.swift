internal import Accounts
internal import FoundationEssentials
internal import HTTPTypes

/// The reply to a request for a code: the same for every address, with and without an account.
struct BegunVerification: APIObject {
    static let members: [APIMember<BegunVerification>] = [
        .required("verification_id", \.id), .required("reference", \.times.reference, .reference),
        .required("mail_after", \.times.nextMail.secondsUp), .required("expires_in", \.times.codeLeft.secondsDown),
        .required("resend_after", \.times.resend.secondsUp),
    ]

    let id: UUID
    let times: CodeTimes
}

extension Duration {
    /// Whole seconds, rounded up; 0 for none.
    fileprivate var secondsUp: Int { Int((self / .seconds(1)).rounded(.up)) }

    /// Whole seconds, rounded down.
    fileprivate var secondsDown: Int { Int(self / .seconds(1)) }
}

extension APIResult<BegunVerification> {
    static let begunVerification = data("What to show with the code, when its mail comes and when it ends", status: .accepted)
}

extension JSONSchema {
    /// The reference beside a code in a mail.
    static let reference = text(CodeReference.length...CodeReference.length)
}
