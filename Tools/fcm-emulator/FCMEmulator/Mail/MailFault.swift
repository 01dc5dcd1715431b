/// The effect of a fault rule on a mail.
enum MailFault: Equatable {
    /// Refuses the step with that reply code.
    case reply(Int)
    /// Closes the connection without an answer.
    case drop
    /// Does not answer, until the client gives up.
    case hang

    /// The default reply of a refusal: local error in processing.
    static let defaultCode = 451

    /// Reads the effect of a rule; nil when it does no more to a mail than to delay it.
    init?(_ effect: FaultRule.Effect) {
        switch effect {
        case .error(_, let status): self = .reply(status ?? Self.defaultCode)
        case .hang: self = .hang
        case .dropConnection: self = .drop
        case .none, .html, .resetStream, .goAway: return nil
        }
    }
}
