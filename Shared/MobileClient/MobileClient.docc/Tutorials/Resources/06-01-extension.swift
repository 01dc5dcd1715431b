import MobileClient
import UserNotifications

final class NotificationService: UNNotificationServiceExtension {
    private let helper = NotificationServiceHelper(
        folder: FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.org.example.app")!
            .appending(path: "heliograph"))

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        helper.didReceive(request, withContentHandler: contentHandler)
    }

    override func serviceExtensionTimeWillExpire() { helper.serviceExtensionTimeWillExpire() }
}
