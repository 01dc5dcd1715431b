internal import BlobStore
internal import ImageGenerators
internal import Imaging
internal import Pictures
internal import WireFormat

/// Fails a job. Carries the failure shown to its user, and the cause for the log.
struct JobFailure: Error, CustomStringConvertible {
    /// The failure shown to the user.
    let failure: ImageJob.Failure
    /// The cause, for the log.
    let cause: String

    init(_ code: ImageFailureCode, cause: String) {
        failure = .init(safely: code)
        self.cause = cause
    }

    var description: String { "\(failure.code): \(cause)" }

    /// Converts an error of ``ImagePipeline``: an unreadable upload is its sender's fault, an unreadable generated picture ours.
    init(_ error: ImagingError, ofUpload isUpload: Bool) {
        switch error.code {
        case .unsupported, .tooLarge, .corrupt, .tooSmall: self.init(isUpload ? .invalidImage : .processingFailed, cause: "\(error)")
        case .invalidSize, .cancelled, .unavailable: self.init(.processingFailed, cause: "\(error)")
        }
    }
}

extension ImageJob.Failure {
    /// Makes a failure with a message that reveals nothing: it is shown on lock screens, after "Unable to process your
    /// image: ".
    init(safely code: ImageFailureCode) {
        let message =
            switch code {
            case .contentBlocked: "This picture cannot be processed under the content rules."
            case .invalidImage: "The file could not be read as a picture."
            case .timeout: "It took too long. Please try again."
            case .unavailable: "The service is busy. Please try again later."
            default: "Something went wrong. Please try again."
            }
        self.init(code: code, message: message)
    }
}

/// Stops the work on a job that its user deleted, or that has ended elsewhere.
struct JobCancelled: Error {}
