import FoundationEssentials
import JSON

/// The phones that a person chooses from: the registrations, those with the newest messages first.
struct PhoneList {
    /// The requested phones, and the number of all matching phones.
    let phones: [(token: String, registration: Registrations.Registration)]
    let total: Int

    /// Selects phones.
    ///
    /// - Parameters:
    ///   - text: A part of the token or installation id, or of the name in any case; nil for all.
    ///   - newest: The number of the newest message to each registration.
    init(_ all: [String: Registrations.Registration], matching text: String?, newest: [String: Int], count: Int) {
        let found = all.filter { value, registration in text.map { Self.matches($0, value, registration) } ?? true }
        let ranked = found.map { (rank: (newest[$0.key] ?? -1, $0.value.number), phone: $0) }.sorted { $0.rank > $1.rank }
        phones = ranked.prefix(count).map { ($0.phone.key, $0.phone.value) }
        total = found.count
    }

    private static func matches(_ text: String, _ value: String, _ registration: Registrations.Registration) -> Bool {
        value.utf8.firstRange(of: text.utf8) != nil || registration.name.lowercased().contains(text.lowercased())
    }
}

extension Registrations.Registration {
    /// The name of the phone for people: tokens are too long to be told apart.
    var name: String { (platform == .ios ? "iPhone " : "Android ") + String(number) }
}
