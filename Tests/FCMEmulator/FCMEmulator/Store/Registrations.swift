import Synchronization

/// What kind of phone a registration belongs to: it decides which part of a message the inbox shows.
public enum DevicePlatform: String, Sendable, CaseIterable {
    /// Reads `apns`; replaces by `apns-collapse-id`.
    case ios
    /// Reads `android`; replaces by `tag`.
    case android
}

/// The registrations this emulator has handed out, and their fate.
final class Registrations: Sendable {
    /// What sending to a registration comes to.
    enum Standing: Equatable {
        case active(DevicePlatform)
        case otherProject
        case gone
    }

    private struct Registration {
        var platform: DevicePlatform
        var project: String?
        /// How many sends a deleted registration still accepts; nil while it is alive.
        var lagLeft: Int?
    }

    private struct State {
        var byValue: [String: Registration] = [:]
        var order: [String] = []
    }

    private let state = Mutex(State())
    private let limit: Int
    private let lagSends: Int

    init(limit: Int, lagSends: Int) {
        self.limit = limit
        self.lagSends = lagSends
    }

    /// Hands out a token of the shape production was seen to use: 142 characters, one colon, `APA91b` after it.
    func mintToken(platform: DevicePlatform, project: String?) -> String {
        add(Self.fid() + ":APA91b" + RandomText.urlSafe(113), platform: platform, project: project)
    }

    /// Hands out a Firebase installation id.
    func mintFID(platform: DevicePlatform, project: String?) -> String {
        add(Self.fid(), platform: platform, project: project)
    }

    private static func fid() -> String { ["c", "d", "e", "f"].randomElement()! + RandomText.urlSafe(21) }

    private func add(_ value: String, platform: DevicePlatform, project: String?) -> String {
        state.withLock { state in
            state.byValue[value] = Registration(platform: platform, project: project)
            state.order.append(value)
            if state.order.count > limit { state.byValue[state.order.removeFirst()] = nil }
        }
        return value
    }

    /// Forgets a registration, as uninstalling the app does; says whether it was alive.
    @discardableResult
    func delete(_ value: String) -> Bool {
        state.withLock { state in
            guard let registration = state.byValue[value], registration.lagLeft == nil else { return false }
            state.byValue[value]?.lagLeft = lagSends
            return true
        }
    }

    /// What a send from that project comes to now. A lag left over is used up when `consuming`.
    func standing(of value: String, project: String, consuming: Bool) -> Standing {
        state.withLock { state in
            guard let registration = state.byValue[value] else { return .gone }
            if let owner = registration.project, owner != project { return .otherProject }
            guard let left = registration.lagLeft else { return .active(registration.platform) }
            guard left > 0 else { return .gone }
            if consuming { state.byValue[value]?.lagLeft = left - 1 }
            return .active(registration.platform)
        }
    }
}
