internal import Foundation
internal import MobileClient

/// The data that an app and its person keep from one process to the next, besides MobileClient's data.
struct PhoneMemory: Sendable {
    /// Where a person is on the way to an account with a face.
    enum Enrolment: Sendable, Equatable {
        case none
        /// A code was asked for.
        case registered(AccountClient.Verification)
        /// The address is proven.
        case verified(token: String)
        case enrolled
    }

    /// The address of an account with a face.
    var email: String?
    var enrolment = Enrolment.none
    /// Who the account is, once it was signed in to.
    var userOfEmail: String?
    /// The person signed in with Firebase, as Firebase's SDK stores it.
    var firebase: String?
    /// Firebase's token, for so long.
    var idToken: (text: String, until: ContinuousClock.Instant)?
    /// The number of the account among the accounts of this phone.
    var accountNumber = 0
    /// The signed-in person; nil when no person is signed in, or it is not known yet.
    var account: String?
    /// The first account of the phone, which is in its group.
    var member: String?
    var isInGroup = false
    /// The other members that the owner of the group has added.
    var added: Set<Int> = []
    var hasTriedStranger = false
    /// The good photos of the last sign-in, with which a bad one is retaken.
    var faces: [EKYCClient.Photo] = []
    /// The person has shown the poses of a challenge in another order.
    var hasShownWrongPoses = false
    /// The person has entered a wrong code.
    var hasMistypedCode = false
    /// The failed attempts to sign up or in, in a row.
    var failures = 0
    var token: String?
    /// The next action of the plan.
    var nextAction = 0
    /// The pushes that arrived while the app did not run, the newest last.
    var notifications: [PushPayload] = []
    /// A message or a photo that is to be sent again under its name.
    var unsent: ChatClient.Message?
    var unsentPhoto: UUID?
    var templates: [String] = []
}
