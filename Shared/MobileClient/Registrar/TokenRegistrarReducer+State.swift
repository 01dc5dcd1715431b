internal import Foundation

extension TokenRegistrarReducer {
    /// The data that the client sends to the API about this installation.
    struct Device: Hashable, Sendable {
        var token: String
        var platform: String
        var appVersion: String?
        var locale: String?
    }

    /// Whether the person gets pushes on this phone.
    enum Push: Hashable, Sendable {
        /// The app has not said yet in this process.
        case unknown
        /// The app has turned them off.
        case off
        case on(Device)
    }

    /// A registration of a device for a sign-in.
    struct Order: Hashable, Sendable {
        var signIn: String
        var device: Device

        /// A hash (FNV-1a, 64 bits) by which a later process recognizes the same registration. The token cannot be read from it.
        var fingerprint: String {
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            for text in [signIn, device.token, device.platform, device.appVersion ?? "", device.locale ?? ""] {
                for byte in Array(text.utf8) + [0] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            }
            return String(hash, radix: 16)
        }
    }

    /// The content of a push `possession_check`.
    struct Nonce: Hashable, Sendable {
        var handOverID: String
        var nonce: String
    }

    /// A request to the API. There is at most one at a time.
    enum Request: Hashable, Sendable {
        case register(Order)
        case confirm(Nonce, signIn: String)
        case remove(signIn: String)

        /// The sign-in that was current when the request was ordered.
        var signIn: String {
            switch self {
            case .register(let order): order.signIn
            case .confirm(_, let signIn), .remove(let signIn): signIn
            }
        }
    }

    /// The outcome of a request.
    enum Answer: Hashable, Sendable {
        /// The installation is the account's.
        case registered(at: Date)
        /// Another account has the installation until its nonce is returned.
        case claimed(handOverID: String, expiresIn: Duration)
        case removed
        /// There is no such claim of this sign-in any more.
        case gone
        /// A repetition would be refused alike.
        case refused
        /// The outcome is unknown, or a repetition may succeed. The API may have named the time to wait.
        case failed(after: Duration?)
    }

    /// The last registration that the API has confirmed, unless a later event has put it in doubt. It outlives the process.
    struct Registration: Hashable, Sendable, Codable {
        var signIn: String
        var fingerprint: String
        var at: Date
    }

    /// A registration that waits for its nonce.
    struct Claim: Hashable, Sendable {
        var handOverID: String
        var order: Order
    }

    /// What keeps a lane from its next request until its wait has ended.
    enum Pause: Hashable, Sendable {
        /// The API was not reached. The wait also ends when the network returns.
        case retry
        /// The API has named a time.
        case told
        /// A nonce is on its way.
        case claim
        /// The API refused; the registration may be accepted another day, or with another token.
        case refused
    }

    /// Requests for the account that is signed in, and logouts of accounts that were.
    enum Lane: Hashable, Sendable {
        case registration
        case logOut
    }

    struct State: Hashable, Sendable {
        var registration: Registration?
        /// The sign-in whose credential is in use.
        var signIn: String?
        /// The sign-ins that the person has left and that the API does not know to be ended. The oldest is the first.
        var leaving: [String] = []
        /// The retired sign-ins whose logout has failed since all had their turn.
        var tried: Set<String> = []
        var push = Push.unknown
        /// Whether the API has removed the token for ``Push/off``.
        var isRemoved = false
        var isOnline = true
        /// The request in flight. It may be of a former sign-in.
        var request: Request?
        /// The sign-in whose logout is in flight.
        var logOut: String?
        var pause: Pause?
        var logOutPause: Pause?
        var claim: Claim?
        /// Nonces that have arrived and were not returned yet.
        var nonces: [Nonce] = []
        /// The claim whose nonce was returned last, so that its second push has no effect.
        var settled: String?

        /// The registration that the account should have.
        var wanted: Order? {
            guard let signIn, case .on(let device) = push else { return nil }
            return Order(signIn: signIn, device: device)
        }
    }
}
