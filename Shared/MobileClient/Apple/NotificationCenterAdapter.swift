#if canImport(UserNotifications)
    public import Foundation
    public import UserNotifications

    /// The delegate of the system's notification centre: passes its events to a ``PushClient``, and the answers back.
    ///
    /// Set it in `application(_:didFinishLaunchingWithOptions:)`, so that the tap that starts the app is reported to it, and keep it, for
    /// the centre's reference is weak. An app with a delegate of its own calls the same methods of the client from there.
    public final class NotificationCenterAdapter: NSObject, UNUserNotificationCenterDelegate, Sendable {
        private let client: PushClient

        /// Creates the delegate of a push client, which it keeps alive.
        public init(_ client: PushClient) { self.client = client }

        /// Passes a push that arrives in the foreground to the client, and answers with its presentation.
        public func userNotificationCenter(
            _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
            withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
        ) {
            let payload = PushPayload(notification)
            let answer = MainThreadHandler(completionHandler)
            Task { [client] in
                let reception = await client.received(payload, in: .foreground)
                await answer(UNNotificationPresentationOptions(reception.presentation))
            }
        }

        /// Hands a tap, a button or a removal to the client, and answers once that is stored.
        public func userNotificationCenter(
            _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
            withCompletionHandler completionHandler: @escaping () -> Void
        ) {
            let payload = PushPayload(response.notification)
            let action = PushAction(rawValue: response.actionIdentifier)
            let answer = MainThreadHandler<Void>(completionHandler)
            Task { [client] in
                await client.opened(payload, action: action)
                await answer(())
            }
        }
    }

    /// A handler of the system, which is not declared Sendable and wants to be called on the main thread.
    struct MainThreadHandler<Value: Sendable>: @unchecked Sendable {
        // The system transfers the handler: it is called once, by the main actor, and no other code has it.
        private let handler: (Value) -> Void

        init(_ handler: @escaping (Value) -> Void) { self.handler = handler }

        @MainActor func callAsFunction(_ value: Value) { handler(value) }
    }

    extension PushPayload {
        /// Reads a notification of the system.
        public init(_ notification: UNNotification) {
            let content = notification.request.content
            self.init(
                userInfo: content.userInfo, identifier: notification.request.identifier,
                deliveredAt: notification.date.timeIntervalSince1970,
                title: content.title, body: content.body, hasSound: content.sound != nil)
        }
    }

    extension UNNotificationPresentationOptions {
        /// The options of a presentation.
        public init(_ presentation: ForegroundPolicy.Presentation) {
            self.init()
            if presentation.banner { insert(.banner) }
            if presentation.sound { insert(.sound) }
            if presentation.badge { insert(.badge) }
            if presentation.list { insert(.list) }
        }
    }
#endif
