internal import FoundationEssentials

/// The change that a registration makes to the row of its installation.
enum InstallChange: Equatable {
    /// Nothing is written.
    case none
    /// Only the time of the registration is written.
    case seen
    /// Only the user is written: the row's value is newer than the registration's, or died after it.
    case bind
    /// Everything is written, and a dead row becomes active.
    case replace

    /// Decides on a registration by a signed-in user, which takes the installation over from another user if it has one.
    init(registering registration: PushRegistration, userID: UUID, over row: PushInstall) {
        let isSameValue = row.valueHash == registration.valueHash
        let isNewer =
            isSameValue ? row.diedAt.map { $0 < registration.seenAt } ?? true : row.registeredAt <= registration.seenAt
        let isSameUser = row.userID == userID
        let isChange =
            !isSameValue || !isSameUser || row.state != .active || row.isSeenLongBefore(registration)
            || Self.differs(registration.platform, from: row.platform) || Self.differs(registration.locale, from: row.locale)
            || Self.differs(registration.appVersion, from: row.appVersion)
        self = isNewer && isChange ? .replace : isSameUser ? .none : .bind
    }

    /// Decides on a value that a user's request carries along; nil when the installation is not the user's. The age of such a value is
    /// unknown, so it replaces no other value and revives no dead row.
    init?(claiming registration: PushRegistration, userID: UUID, over row: PushInstall) {
        guard row.userID == userID else { return nil }
        self = row.valueHash == registration.valueHash && row.isSeenLongBefore(registration) ? .seen : .none
    }

    private static func differs(_ new: String?, from old: String?) -> Bool { new != nil && new != old }
}

extension PushInstall {
    /// When FCM reported the token as dead; nil for a living one.
    fileprivate var diedAt: Date? {
        invalidAt ?? suspectUntil?.addingTimeInterval(-(PushInstallLimits.suspectTime / .seconds(1)))
    }

    fileprivate func isSeenLongBefore(_ registration: PushRegistration) -> Bool {
        lastSeenAt < registration.seenAt.addingTimeInterval(-(PushInstallLimits.seenInterval / .seconds(1)))
    }
}
