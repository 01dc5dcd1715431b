import FoundationEssentials
import Synchronization

/// The kind of phone a registration belongs to, which decides the part of a message that the inbox shows.
public enum DevicePlatform: String, Sendable, CaseIterable {
    /// Reads `apns`; replaces by `apns-collapse-id`.
    case ios
    /// Reads `android`; replaces by `tag`.
    case android
}

/// The registrations this emulator has issued, and their state.
final class Registrations: Sendable {
    /// The result of a send to a registration.
    enum Standing: Equatable {
        /// The registration's text as it is kept here, and its phone.
        case active(value: String, DevicePlatform, isOnline: Bool)
        case otherProject
        case gone
    }

    struct Registration {
        var platform: DevicePlatform
        /// Its place in the order of registrations, beginning with 1; a value that is registered again keeps it.
        fileprivate(set) var number = 0
        /// The id of the project, or its sender id, that owns the registration; nil for the emulator's own.
        var project: String?
        /// The time from which it is dead; nil when no time is set.
        var expiresAt: Date?
        /// Number of sends a deleted registration still accepts; nil while it is not deleted.
        var lagLeft: Int?
        /// Number of messages it was sent, in the era in which they were last counted.
        fileprivate var accepted = (count: 0, era: 0)
        /// The messages that wait for a phone that is offline; nil while it is online.
        var store: OfflineStore?
    }

    private struct State {
        var byValue: [String: Registration] = [:]
        var order: Ring<String>
        /// A new era resets all counts without a pass over all registrations.
        var era = 0
        /// Number of registrations by the number of messages each was sent in this era.
        var counts: [Int: Int] = [:]

        func accepted(_ registration: Registration) -> Int {
            registration.accepted.era == era ? registration.accepted.count : 0
        }

        mutating func count(_ messages: Int, by change: Int) {
            let sum = counts[messages, default: 0] + change
            counts[messages] = sum == 0 ? nil : sum
        }

        mutating func remove(_ value: String) {
            if let old = byValue.removeValue(forKey: value) { count(accepted(old), by: -1) }
        }
    }

    private let state: Mutex<State>
    private let lagSends: Int

    init(limit: Int, lagSends: Int) {
        state = Mutex(State(order: Ring(capacity: limit)))
        self.lagSends = lagSends
    }

    /// Issues a token of the shape observed in production: 142 characters, one colon, `APA91b` after it.
    func mintToken(platform: DevicePlatform, project: String?, expiresAt: Date? = nil, fid: String? = nil) -> String {
        add(
            (fid ?? Self.fid()) + ":APA91b" + RandomText.urlSafe(113),
            Registration(platform: platform, project: project, expiresAt: expiresAt))
    }

    /// Issues a Firebase installation id: a new id, or the id of an app that has had a token so far.
    func mintFID(platform: DevicePlatform, project: String?, expiresAt: Date? = nil, fid: String? = nil) -> String {
        add(fid ?? Self.fid(), Registration(platform: platform, project: project, expiresAt: expiresAt))
    }

    private static func fid() -> String { ["c", "d", "e", "f"].randomElement()! + RandomText.urlSafe(21) }

    private func add(_ value: String, _ registration: Registration) -> String {
        state.withLock { state in
            if state.order.count == state.order.capacity, let oldest = state.order[state.order.start] {
                state.remove(oldest)
            }
            var registration = registration
            if let old = state.byValue[value] {
                state.count(state.accepted(old), by: -1)
                registration.number = old.number
            } else {
                registration.number = state.order.append(value) + 1
            }
            state.byValue[value] = registration
            state.count(0, by: 1)
        }
        return value
    }

    // MARK: State changes

    /// Deletes a registration, as uninstalling the app does; false when it is unknown or was deleted before.
    @discardableResult
    func delete(_ value: String) -> Bool {
        change(value) { registration in
            guard registration.lagLeft == nil else { return false }
            registration.lagLeft = lagSends
            return true
        } ?? false
    }

    /// Issues another token to the app, as Firebase does at times, and deletes the old one. Nil when that is unknown or was
    /// deleted before.
    func rotate(_ value: String) -> String? {
        guard let old = find(value), old.lagLeft == nil else { return nil }
        delete(value)
        let fid = value.split(separator: ":").first.map(String.init)
        return mintToken(platform: old.platform, project: old.project, fid: fid)
    }

    /// Makes a dead registration valid again, as observed when its app is opened; false when it is unknown.
    func revive(_ value: String) -> Bool {
        change(value) { registration in
            registration.lagLeft = nil
            registration.expiresAt = nil
            return true
        } ?? false
    }

    /// Sets the time from which a registration is dead; false when it is unknown.
    func expire(_ value: String, at time: Date) -> Bool {
        change(value) { registration in
            registration.expiresAt = time
            return true
        } ?? false
    }

    private func change<Value>(_ value: String, _ body: (inout Registration) -> Value?) -> Value? {
        state.withLock { state in
            guard var registration = state.byValue[value] else { return nil }
            defer { state.byValue[value] = registration }
            return body(&registration)
        }
    }

    // MARK: Phones that are offline

    /// Disconnects an Android phone: messages to it wait in its store. False when there is no such phone.
    func disconnect(_ value: String) -> Bool {
        change(value) { registration in
            guard registration.platform == .android else { return false }
            registration.store = registration.store ?? OfflineStore()
            return true
        } ?? false
    }

    /// Keeps a message for a phone that is offline.
    func keep(_ message: OfflineStore.Message, for value: String) {
        _ = change(value) { $0.store?.add(message) }
    }

    /// Reconnects a phone; returns the numbers of the messages it receives, and whether messages were deleted. Nil when it is not
    /// offline.
    func reconnect(_ value: String, now: Date) -> (messages: [Int], hasLost: Bool)? {
        change(value) { registration in
            guard let store = registration.store else { return nil }
            registration.store = nil
            return (store.deliverable(at: now), store.hasOverflowed)
        }
    }

    // MARK: Reading

    /// The registration of that token or installation id.
    func find(_ value: String) -> Registration? { state.withLock { $0.byValue[value] } }

    /// All registrations, by their values.
    var all: [String: Registration] { state.withLock { $0.byValue } }

    /// Whether a send to the registration would be accepted, apart from the check of its project.
    static func isAlive(_ registration: Registration, now: Date) -> Bool {
        registration.lagLeft.map { $0 > 0 } ?? true && registration.expiresAt.map { $0 > now } ?? true
    }

    /// Returns the result of a send from a project now; a `real` send is counted, and uses up one of the sends a deleted
    /// registration still accepts.
    ///
    /// - Parameter names: The project's id and number.
    func standing(of value: String, project names: [String], real: Bool, now: Date) -> Standing {
        state.withLock { state in
            guard let index = state.byValue.index(forKey: value) else { return .gone }
            let (value, registration) = state.byValue[index]
            if let owner = registration.project, !names.contains(owner) { return .otherProject }
            guard Self.isAlive(registration, now: now) else { return .gone }
            if real {
                let count = state.accepted(registration)
                state.count(count, by: -1)
                state.count(count + 1, by: 1)
                state.byValue.values[index].accepted = (count + 1, state.era)
                if let left = registration.lagLeft { state.byValue.values[index].lagLeft = left - 1 }
            }
            return .active(value: value, registration.platform, isOnline: registration.store == nil)
        }
    }

    /// Number of messages a registration was sent in this era.
    func accepted(by value: String) -> Int {
        state.withLock { state in state.byValue[value].map { state.accepted($0) } ?? 0 }
    }

    /// Number of registrations by the number of messages each was sent; more than one message shows a repetition in a fan-out.
    var acceptedCounts: [Int: Int] { state.withLock { $0.counts } }

    /// Starts a new era: all counts are 0.
    func resetCounts() {
        state.withLock { state in
            state.era += 1
            state.counts = state.byValue.isEmpty ? [:] : [0: state.byValue.count]
        }
    }
}
