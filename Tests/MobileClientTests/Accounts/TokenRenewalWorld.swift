import Foundation

@testable import MobileClient

/// App and notification extension with one store, a network that delays and loses, and the API's rules for refresh tokens.
///
/// The reducer and the record's functions are the real ones. Time goes in steps of five seconds, and may go on between any two steps of a
/// process, as it does while iOS suspends it.
struct TokenRenewalWorld: Hashable {
    /// What may still happen.
    struct Budget: Hashable {
        var needs = 3
        var ticks = 7
        var crashes = 0
        var losses = 0
        var storeFailures = 0
        var signOuts = 0
        var signIns = 0
        var remoteEnds = 0
        /// The seconds for which access tokens are valid.
        var lifetime = 3600
    }

    struct Process: Hashable {
        var state = TokenRefreshReducer.State(maxWaits: 3)
        var effects: [TokenRefreshReducer.Effect] = []
        var events: [TokenRefreshReducer.Event] = []
        /// The need of the caller who waits.
        var caller: TokenRefreshReducer.Need?
        var rounds = 0
        /// The newest tokens that it has been answered, by their family.
        var received: [Int: Int] = [:]
    }

    enum Stage: Hashable {
        case toAPI
        case answer(TokenRefreshReducer.Event)
    }

    /// A request or its answer on the way. No process waits for the answer when `process` is nil.
    struct Message: Hashable {
        var process: Int?
        var family: Int
        var token: Int
        var sendBy: Date
        var stage = Stage.toAPI

        /// An order for worlds that are the same but for the order in which messages were sent.
        var order: [Int] {
            [process ?? -1, family, token, Int(sendBy.timeIntervalSince1970), stage == .toAPI ? 0 : 1]
        }
    }

    /// A sign-in at the API.
    struct Family: Hashable {
        var newest = 1
        /// When the predecessor of the newest token was used.
        var usedAt: Date?
        var isDead = false
        var hasEnded = false
        /// The times that the store has let go of it as lost.
        var losses = 0
        /// Whether the store has let go of it.
        var isOver = false
        /// The newest token that was in the store.
        var stored = 1
        var storedAt = Date(timeIntervalSince1970: 0)
    }

    static let grace: TimeInterval = 30
    static let tick: TimeInterval = 5
    static let unreachable = HeliographError(.unreachable, "lost", isRetryable: true)

    var now = Date(timeIntervalSince1970: 1_000_000)
    var record: CredentialRecord
    var processes = [Process(), Process()]
    var families = [Family()]
    var messages: [Message] = []
    var budget: Budget
    var violation: String?

    init(_ budget: Budget) {
        self.budget = budget
        record = CredentialRecord()
        record.signIn(Self.signIn(0), tokens(0, 1), now: now - 1000)
    }

    static func signIn(_ family: Int) -> UUID {
        UUID(uuid: (UInt8(family), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }

    static func holder(_ process: Int) -> UUID {
        UUID(uuid: (0, UInt8(process + 1), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }

    func tokens(_ family: Int, _ number: Int) -> AccountTokens {
        AccountTokens(
            accessToken: "A\(family).\(number)", refreshToken: "R\(family).\(number)", expiresIn: budget.lifetime, userID: "U\(family)")
    }

    /// The family and number of a refresh token.
    static func parse(_ token: String) -> (family: Int, number: Int) {
        let parts = token.dropFirst().split(separator: ".").compactMap { Int($0) }
        return (parts[0], parts[1])
    }

    /// The API takes a refresh token (TokenController.refresh).
    mutating func arrive(_ message: Message) -> TokenRefreshReducer.Event {
        let (family, token) = (message.family, message.token)
        if families[family].isDead { return .refused }
        if token == families[family].newest {
            families[family].newest += 1
            families[family].usedAt = now
            return .answered(tokens(family, token + 1))
        }
        if token == families[family].newest - 1, let usedAt = families[family].usedAt, now < usedAt + Self.grace {
            return .answered(tokens(family, token + 1))
        }
        families[family].isDead = true
        if families[family].stored > token {
            if families[family].newest > token + 1 {
                violation = "a token came to the API after its successor was used, and ended the sign-in"
            }
            // Answers that a suspended process keeps for itself cannot be helped.
            if let usedAt = families[family].usedAt, families[family].storedAt <= usedAt + CredentialRecord.claimTime {
                violation = "a token came to the API long after its successor was kept, and ended the sign-in"
            }
        }
        return .refused
    }

    /// Compares the store with what it was before a step.
    mutating func check(_ before: CredentialRecord) {
        if let session = before.session, record.session?.id != session.id {
            let (family, _) = Self.parse(session.refreshToken)
            families[family].isOver = true
            if record.end == .lost {
                families[family].losses += 1
                if !families[family].isDead { violation = "a sign-in was lost that the API has not ended" }
                if families[family].losses > 1 { violation = "a sign-in was lost twice" }
            }
        }
        guard let session = record.session else { return }
        let (family, token) = Self.parse(session.refreshToken)
        if families[family].isOver { violation = "a sign-in came back" }
        if token < families[family].stored { violation = "an older token replaced a newer one" }
        if token > families[family].stored { (families[family].stored, families[family].storedAt) = (token, now) }
    }
}
