public import Foundation

/// An update on a picture that the app has ordered.
public struct JobUpdate: Hashable, Sendable {
    /// Where an order is.
    public enum State: Hashable, Sendable {
        /// The order is kept on the device; the API has not answered yet.
        case ordering
        /// The API has the order.
        case active(Progress)
        /// The picture takes longer than the client asks for. A push, the next launch or the app's return to the foreground brings the end.
        case inBackground
        /// The order has ended. This is the last update.
        case ended(Outcome)
    }

    /// How an order ended.
    public enum Outcome: Codable, Hashable, Sendable {
        /// The picture is ready until 24 hours after the order.
        case completed(Picture)
        /// The picture could not be made.
        case failed(Failure)
        /// The order is older than 24 hours, or the API does not have it any more.
        case expired
        /// The app cancelled the order, or the person signed out.
        case cancelled
        /// The API, or the device, refused the order: the same order would be refused again.
        case refused(Failure)
    }

    /// A picture that is ready.
    public struct Picture: Codable, Hashable, Sendable {
        /// The address of the picture, which works without a credential until 24 hours after the order; nil if the API named none.
        public let imageURL: String?
        /// The address of the thumbnail; nil without a thumbnail.
        public let thumbnailURL: String?
        /// The name of the template, for people; nil where the API named none.
        public let templateName: String?
        /// The width in pixels; nil where the API named none.
        public let width: Int?
        /// The height in pixels; nil where the API named none.
        public let height: Int?

        /// Creates a picture, for previews and tests of an app.
        public init(
            imageURL: String? = nil, thumbnailURL: String? = nil, templateName: String? = nil, width: Int? = nil, height: Int? = nil
        ) {
            self.imageURL = imageURL
            self.thumbnailURL = thumbnailURL
            self.templateName = templateName
            self.width = width
            self.height = height
        }
    }

    /// Why there is no picture.
    public struct Failure: Codable, Hashable, Sendable {
        /// The code of the API, such as `processing_failed` or `template_not_found`. A code that this version does not know keeps its text.
        public let code: String
        /// One sentence, without data of a person.
        public let message: String
        /// The refused field; nil when the refusal names no field.
        public let field: String?

        /// Creates a reason, for previews and tests of an app.
        public init(code: String, message: String, field: String? = nil) {
            self.code = code
            self.message = message
            self.field = field
        }
    }

    /// How far an order is.
    public struct Progress: Hashable, Sendable {
        /// The status as the API names it: `pending`, `processing`, or one that this version does not know.
        public let status: String
        /// The number of orders before this one; nil when it is not known.
        public let queuePosition: Int?
        /// From 0 to 1: the API's percentage where it is known, and otherwise the part of the time for which the client asks.
        public let fraction: Double

        /// Creates a progress, for previews and tests of an app.
        public init(status: String, queuePosition: Int? = nil, fraction: Double) {
            self.status = status
            self.queuePosition = queuePosition
            self.fraction = fraction
        }
    }

    /// The id of the order on this device, from ``ImagesClient/Job``.
    public let id: UUID
    /// The id of the job, which pushes and requests name; nil while the API has not answered.
    public let jobID: String?
    /// Where the order is.
    public let state: State

    /// Creates an update, for previews and tests of an app.
    public init(id: UUID, jobID: String?, state: State) {
        self.id = id
        self.jobID = jobID
        self.state = state
    }

    /// How the order ended; nil while it has not.
    public var outcome: Outcome? {
        guard case .ended(let outcome) = state else { return nil }
        return outcome
    }
}
