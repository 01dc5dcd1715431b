#if canImport(UserNotifications)
    internal import UserNotifications

    extension NotificationCategories {
        /// Registers the categories that are missing, beside those that the app has registered before. Call it after the app's own
        /// registration: the system replaces all categories at once.
        public func register() {
            UNUserNotificationCenter.current().getNotificationCategories { registered in
                let missing = missing(from: Set(registered.map(\.identifier))).map(UNNotificationCategory.init(_:))
                UNUserNotificationCenter.current().setNotificationCategories(registered.union(missing))
            }
        }
    }

    extension UNNotificationCategory {
        fileprivate convenience init(_ category: NotificationCategories.Category) {
            let actions = category.actions.map { action in
                UNNotificationAction(identifier: action.action.rawValue, title: action.title, options: .foreground)
            }
            // Its removal is reported too, for the receipts.
            self.init(identifier: category.identifier, actions: actions, intentIdentifiers: [], options: .customDismissAction)
        }
    }

    extension PushHandlers {
        /// Sets the number on the app's icon: the value of ``badge`` for an app.
        public static let systemBadge: @Sendable (Int) async -> Void = { try? await UNUserNotificationCenter.current().setBadgeCount($0) }
    }
#endif
