import MobileClient
import UserNotifications

/// Shows the picture of a push, and stores that the push was delivered.
final class NotificationService: UNNotificationServiceExtension {
    private let helper = NotificationServiceHelper(
        folder: FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.org.example.heliograph-demo")!
            .appendingPathComponent("heliograph"))

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) { helper.didReceive(request, withContentHandler: contentHandler) }

    override func serviceExtensionTimeWillExpire() { helper.serviceExtensionTimeWillExpire() }
}
