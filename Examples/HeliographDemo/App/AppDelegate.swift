import FirebaseCore
import FirebaseMessaging
import MobileClient
import UIKit
import UserNotifications

/// Hands on what iOS and Firebase report. Info.plist has `FirebaseAppDelegateProxyEnabled` = NO, so nothing reaches Firebase by itself.
final class AppDelegate: NSObject, UIApplicationDelegate, MessagingDelegate {
    private let center = NotificationCenterAdapter(Demo.client.push)
    private let hooks = AppDelegateHooks(Demo.client)

    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        FirebaseApp.configure()
        Messaging.messaging().delegate = self
        // Before this method returns: the tap that has started the app is reported right after it.
        UNUserNotificationCenter.current().delegate = center
        NotificationCategories(viewImage: String(localized: "View image")).register()
        Task {
            try? await Demo.client.start()
            // An app asks when it is clear to the person what for, as after the sign-in.
            _ = try? await UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .badge, .sound])
        }
        application.registerForRemoteNotifications()
        return true
    }

    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data) {
        Messaging.messaging().apnsToken = deviceToken
    }

    nonisolated func messaging(_ messaging: Messaging, didReceiveRegistrationToken token: String?) {
        guard let token else { return }
        Task { await Demo.client.pushTokenChanged(token) }
    }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        hooks.didReceiveRemoteNotification(userInfo, fetchCompletionHandler: completionHandler)
    }

    func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String, completionHandler: @escaping () -> Void
    ) {
        Task { await hooks.handleEventsForBackgroundURLSession(identifier, completionHandler: completionHandler) }
    }
}
