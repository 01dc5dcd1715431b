/// What phones do during a run, and what goes wrong on their side. All numbers are means for a phone and run unless they are shares.
struct Scenario: Codable, Sendable, Equatable {
    var phones = 1_000
    var minutes = 30.0
    var seed: UInt64 = 1
    /// The share of phones whose person proves an e-mail address, signs up with nine photos and signs in with three.
    var enrolling = 0.03
    /// The share of phones that sign in by face to the account that another phone has made.
    var sharing = 0.02
    /// Whether copies of a photo with other bytes are accepted (`FACE_REPLAY_CHECK=files`): only then an account signs in by face again.
    var acceptsCopies = false
    /// The share of sign-ins by face before which another person's face is tried.
    var strangers = 0.15
    /// The share of sign-ins by face with a photo that shows no face, which is retaken. It is 0 where copies are not accepted:
    /// the good photo would have been used before.
    var badPhotos = 0.3
    /// The share of sign-ups and sign-ins by face that answer a challenge.
    var challenges = 0.5
    /// The share of phones whose person shows the poses of a challenge in another order, once.
    var wrongPoses = 0.3
    /// The share of codes that are mistyped, once a phone.
    var mistypedCodes = 0.3

    // MARK: What people do

    var orders = 1.5
    var photos = 0.7
    var messages = 1.5
    var chats = 0.8
    var signOuts = 0.15

    // MARK: What goes wrong

    var kills = 2.0
    var lossPeriods = 1.5
    var backgrounds = 1.0
    var rotations = 0.2
    /// The share of requests whose answer is lost after the API has handled them.
    var lostAnswers = 0.02
    /// The share of answers that are held back for up to 20 seconds.
    var slowAnswers = 0.03
    /// The share of pushes that never arrive.
    var missingPushes = 0.1
    /// The share of pushes that arrive up to 40 seconds late.
    var latePushes = 0.15
    /// The share of pushes that arrive twice.
    var doublePushes = 0.1

    /// The number of phones that are in an event and a conversation together.
    static let groupSize = 4

    var duration: Double { minutes * 60 }

    /// The same with `factor` times as many faults.
    func faults(times factor: Double) -> Scenario {
        var scenario = self
        for fault in [\Scenario.kills, \.lossPeriods, \.backgrounds, \.rotations] { scenario[keyPath: fault] *= factor }
        for share in [\Scenario.lostAnswers, \.slowAnswers, \.missingPushes, \.latePushes, \.doublePushes] {
            scenario[keyPath: share] = min(0.5, scenario[keyPath: share] * factor)
        }
        return scenario
    }
}
