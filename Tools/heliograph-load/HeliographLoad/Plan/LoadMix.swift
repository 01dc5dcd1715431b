internal import ArgumentParser

/// The kinds of actions.
enum LoadKind: String, CaseIterable {
    /// A person with an account signs in with three photos.
    case signIn = "sign-in"
    /// A new person signs up with nine photos.
    case signUp = "sign-up"
    /// A signed-in person orders a picture.
    case image
    /// A signed-in person adds a photo to an event.
    case upload
}

/// The proportions of the kinds: `sign-in=8,image=3,upload=2`.
struct LoadMix: ExpressibleByArgument, Equatable {
    /// The default: sign-ins only.
    static let standard = LoadMix(weights: [.signIn: 1])

    private(set) var weights: [LoadKind: Double]

    /// - Parameter weights: at least one above 0.
    init(weights: [LoadKind: Double]) { self.weights = weights }

    init?(argument: String) {
        weights = [:]
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let kind = LoadKind(rawValue: String(sides[0])), weights[kind] == nil,
                let weight = sides.count > 1 ? Double(sides[1]) : 1, weight.isFinite, weight >= 0
            else { return nil }
            weights[kind] = weight
        }
        guard total > 0 else { return nil }
    }

    private var total: Double { weights.values.reduce(0, +) }

    /// The kinds with a weight above 0, in the order of `LoadKind`.
    var kinds: [LoadKind] { LoadKind.allCases.filter { share(of: $0) > 0 } }

    /// The share of a kind, 0 to 1.
    func share(of kind: LoadKind) -> Double { (weights[kind] ?? 0) / total }

    func pick(using generator: inout some RandomNumberGenerator) -> LoadKind {
        let kinds = kinds
        var rest = Double.random(in: 0..<1, using: &generator)
        for kind in kinds {
            rest -= share(of: kind)
            if rest < 0 { return kind }
        }
        return kinds[kinds.count - 1]
    }

    var defaultValueDescription: String { description }

    /// The mix in the syntax of its argument.
    var description: String {
        kinds.map { kind in
            let weight = weights[kind] ?? 0
            return "\(kind.rawValue)=" + (Int(exactly: weight).map(String.init) ?? "\(weight)")
        }.joined(separator: ",")
    }
}
