internal import Accounts
internal import FaceEngine
internal import WireFormat

/// Names the bad photos of a session with all their problems.
///
/// Its only input is the photos, and it runs for each session, whatever the verdict: neither its result nor its duration discloses whether
/// an e-mail has an account. The repository stores the result only beside a reason that discloses as little.
struct PhotoReview {
    /// Returns the bad photos in the order of the upload; none if all are good.
    func callAsFunction(_ examined: [ExaminedPhoto]) -> [PhotoProblems] {
        let photos = examined.map { photo in
            UploadReview.Photo(
                pose: FacePose(photo.pose), digests: [photo.digest] + (photo.pixelDigest.map { [$0] } ?? []), analysis: photo.analysis)
        }
        var counts: [SessionPhoto.Pose: Int] = [:]
        return zip(examined, UploadReview()(photos)).compactMap { photo, faults in
            let index = counts[photo.pose, default: 0]
            counts[photo.pose] = index + 1
            return faults.isEmpty ? nil : PhotoProblems(pose: photo.pose, index: index, problems: faults.map(PhotoProblem.init))
        }
    }
}
