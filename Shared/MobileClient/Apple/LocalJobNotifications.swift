#if canImport(UserNotifications)
    internal import Foundation
    internal import UserNotifications

    /// Shows local notifications of completed jobs by the notification centre. The category with its action is registered with the
    /// categories of pushes.
    struct LocalJobNotifications: JobNotifying {
        func isShown(_ identifier: String) async -> Bool {
            await UNUserNotificationCenter.current().deliveredNotifications().contains { $0.request.identifier == identifier }
        }

        func show(_ notification: JobNotification) async {
            let content = UNMutableNotificationContent()
            content.title = JobNotification.title
            content.body = notification.body
            content.sound = .default
            content.categoryIdentifier = JobNotification.category
            content.userInfo = notification.data
            let request = UNNotificationRequest(identifier: notification.identifier, content: content, trigger: nil)
            // Without the person's permission there is no notification, and no error is reported.
            try? await UNUserNotificationCenter.current().add(request)
        }
    }
#endif
