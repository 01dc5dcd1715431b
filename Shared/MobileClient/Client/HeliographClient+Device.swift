internal import Foundation

extension HeliographClient {
    /// What a client uses of the device's system.
    struct Device: Sendable {
        /// The identifier of the background session of uploads.
        static let uploadSession = "heliograph.uploads"

        var uploads: any BackgroundUploading
        /// Shows that a picture is ready; nil where nothing can be shown.
        var notifier: (any JobNotifying)?
        /// Makes photos smaller that are larger than the API takes; nil where nothing can.
        var scaler: (any PhotoScaling)?
    }
}

extension HeliographClient.Device {
    /// The device of an app. On Linux, uploads run in the process, nothing is shown, and no photo is scaled.
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
