public import Foundation

/// Orders pictures, and follows each order until the app has its end, also across restarts of the app.
public struct ImagesClient: Sendable {
    /// An order on this device.
    public struct Job: Sendable, Hashable, Identifiable {
        /// The id on this device, which exists before the API has answered.
        public let id: UUID
        /// The id of the job, which pushes name; nil while the API has not answered.
        public let jobID: String?
        /// The id of the template.
        public let template: String
        /// When the app ordered.
        public let orderedAt: Date
    }

    /// The options of a picture.
    public struct Options: Sendable, Hashable {
        /// How good a picture is to be.
        public struct Quality: RawRepresentable, Sendable, Hashable {
            /// The value of the API.
            public let rawValue: String

            /// Creates a quality of the API; this version need not know it.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// Small and fast.
            public static let low = Self(rawValue: "low")
            /// The usual quality.
            public static let medium = Self(rawValue: "medium")
            /// The best quality.
            public static let high = Self(rawValue: "high")
        }

        /// From 16 to 4096 pixels; nil leaves it to the template.
        public var width: Int?
        /// From 16 to 4096 pixels; nil leaves it to the template.
        public var height: Int?
        /// nil is the API's usual quality, `medium`.
        public var quality: Quality?

        /// Creates options; without arguments, the options of the template.
        public init(width: Int? = nil, height: Int? = nil, quality: Quality? = nil) {
            self.width = width
            self.height = height
            self.quality = quality
        }
    }

    let tracker: JobTracker
    let sender: any APISender
    let transport: any HTTPTransport
    /// Whether links of pictures may lead to `http`, as where the API is reached without TLS itself.
    var allowsPlainLinks = false
    /// Scales down pictures that are larger than the API accepts; nil without a scaler.
    var scaler: (any PhotoScaling)?

    /// The templates that can be ordered. Needs no sign-in.
    public func templates() async throws(HeliographError) -> [PictureTemplate] { try await sender.send(TemplateRequests.list()) }

    // MARK: Updates

    /// The updates of an order: the latest update at once, then later updates, and its end as the last.
    ///
    /// Several readers may follow an order, and each gets the end once, even if it starts late. A reader that asks for the next update
    /// after the end, or stops reading, has acknowledged the end: the order is removed from the device. Until then a reader gets the end
    /// again after each launch.
    /// - Parameter id: ``Job/id``. The stream of an order that is not on this device is empty.
    public func updates(of id: UUID) -> AsyncStream<JobUpdate> { tracker.updates(of: id) }

    /// The updates of all orders of this device. It does not finish; ends are acknowledged as by ``updates(of:)``.
    public func updates() -> AsyncStream<JobUpdate> { tracker.updates(of: nil) }

    /// The orders whose end the app has not acknowledged, the oldest first.
    public func pending() async throws(HeliographError) -> [Job] { try await tracker.jobs() }

    /// Says that the app has seen the end of an order, which is removed from the device. Without effect before the end.
    public func acknowledge(_ id: UUID) async { await tracker.acknowledge(id) }

    /// Cancels an order, which ends as cancelled when the API has confirmed that; at the latest 24 hours after the order.
    ///
    /// Where the API's answer to the order is not known, the order is sent again by its key, because only the answer names the job.
    public func cancel(_ id: UUID) async throws(HeliographError) { try await tracker.cancel(id) }

    /// A push has named a job: looks how it ended, and returns when the API has answered or could not be reached. An app that a push has
    /// woken up may be suspended then.
    /// - Returns: Whether this device follows the job; one ordered on another device has no updates here.
    @discardableResult
    public func pushArrived(jobID: String) async -> Bool {
        let isKnown = await tracker.pushArrived(jobID: jobID)
        await tracker.settle(jobID: jobID)
        return isKnown
    }
}
