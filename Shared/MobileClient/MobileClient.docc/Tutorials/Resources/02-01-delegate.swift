import FirebaseCore
import FirebaseMessaging
import MobileClient
import UIKit
import UserNotifications

final class AppDelegate: NSObject, UIApplicationDelegate, MessagingDelegate {
    private let center = NotificationCenterAdapter(Backend.client.push)

    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        FirebaseApp.configure()
        Messaging.messaging().delegate = self
        // The tap that has started the app is reported right after this method.
        UNUserNotificationCenter.current().delegate = center
        NotificationCategories(viewImage: "View image").register()
        Task { try? await Backend.client.start() }
        application.registerForRemoteNotifications()
        return true
    }

    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data) {
        Messaging.messaging().apnsToken = deviceToken
    }

    nonisolated func messaging(_ messaging: Messaging, didReceiveRegistrationToken token: String?) {
        guard let token else { return }
        Task { await Backend.client.pushTokenChanged(token) }
    }
}
