internal import Foundation

extension HeliographClient {
    /// The services of the device's system that a client uses.
    struct Device: Sendable {
        /// The identifier of the background session of uploads.
        static let uploadSession = "heliograph.uploads"

        var uploads: any BackgroundUploading
        /// Shows that a picture is ready; nil where notifications cannot be shown.
        var notifier: (any JobNotifying)?
        /// Scales down photos that are larger than the API accepts; nil on a system without a scaler.
        var scaler: (any PhotoScaling)?
    }
}

extension HeliographClient.Device {
    /// The device of an app. On Linux, uploads run in the process, notifications are not shown, and photos are not scaled.
    init(_ transport: any HTTPTransport, _ time: TimeSource) {
        #if canImport(UIKit) && canImport(UserNotifications)
            self.init(uploads: BackgroundUploadSession(identifier: Self.uploadSession), notifier: LocalJobNotifications())
        #else
            self.init(uploads: ForegroundUploads(identifier: Self.uploadSession, transport: transport, time: time))
        #endif
        #if canImport(ImageIO)
            scaler = ImageIOScaler()
        #endif
    }
}
