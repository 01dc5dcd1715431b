#if canImport(UIKit)
    public import Foundation
    public import UIKit

    /// The methods that an app delegate calls to pass events of iOS to a client. All methods are called on the main thread, as iOS calls
    /// theirs.
    @MainActor
    public final class AppDelegateHooks {
        private let client: HeliographClient

        /// Creates the hooks of a client, which they keep alive.
        public init(_ client: HeliographClient) { self.client = client }

        /// For `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`: a push with `content-available`, also while the app
        /// is on the screen, where the notification centre's delegate decides what is shown.
        public func didReceiveRemoteNotification(
            _ userInfo: [AnyHashable: Any], fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
        ) {
            let payload = PushPayload(userInfo: userInfo)
            Task { [client] in
                let reception = await client.push.received(payload, in: .background)
                completionHandler(reception.isNew ? .newData : .noData)
            }
        }

        /// For `application(_:handleEventsForBackgroundURLSession:completionHandler:)`. The sessions of others are left to the app, which
        /// asks by the result.
        public func handleEventsForBackgroundURLSession(
            _ identifier: String, completionHandler: @escaping () -> Void
        ) async -> Bool {
            let completion = MainThreadHandler<Void>(completionHandler)
            return await client.handleBackgroundEvents(identifier: identifier) { completion(()) }
        }

        /// The token of APNs as text, for an app that logs it. Firebase takes the token itself: `Messaging.messaging().apnsToken`.
        public static func text(ofDeviceToken deviceToken: Data) -> String {
            deviceToken.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
    }
#endif
