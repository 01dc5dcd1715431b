/// How often something went wrong on the phones' side.
struct FaultCount: Codable, Sendable, Equatable {
    enum Kind: String, Codable, CaseIterable, Sendable {
        case noNetwork = "requests without a network"
        case answerLost = "answers lost after the request was handled"
        case slowAnswer = "slow answers"
        case lossPeriod = "periods without a network"
        case termination = "ends of the app"
        case background = "times in the background"
        case pushMissing = "pushes that never came"
        case pushLate = "pushes that came late"
        case pushTwice = "pushes that came twice"
        case rotation = "replaced push tokens"
        case signOut = "sign-outs"
        case stranger = "sign-ins with another person's face"
        case mistypedCode = "mistyped codes"
        case badPhoto = "sign-ins with a photo that shows no face"
    }

    let kind: Kind
    var count: Int
}
