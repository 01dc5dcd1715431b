internal import BlobStore
internal import ImageGenerators
internal import Imaging
internal import Storage
internal import WireFormat

/// Ends a job without a picture: why, in words for its user, and what happened, for the log.
struct JobFailure: Error, CustomStringConvertible {
    /// What its user is told.
    let failure: ImageJob.Failure
    /// What the operator is told.
    let cause: String

    init(_ code: ImageFailureCode, cause: String) {
        failure = .init(safely: code)
        self.cause = cause
    }

    var description: String { "\(failure.code): \(cause)" }

    /// Says what a picture means that the workshop did not take: as an upload it is its sender's, later it is ours.
    init(_ error: ImagingError, ofUpload isUpload: Bool) {
        switch error.code {
        case .unsupported, .tooLarge, .corrupt: self.init(isUpload ? .invalidImage : .processingFailed, cause: "\(error)")
        case .invalidSize, .cancelled, .unavailable: self.init(.processingFailed, cause: "\(error)")
        }
    }
}

extension ImageJob.Failure {
    /// The failure with the words that may be shown to anybody; they end up on lock screens, after "Unable to process your
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

/// The job ended elsewhere, or its user deleted it: nothing more is to be done for it.
struct JobUnwanted: Error {}
