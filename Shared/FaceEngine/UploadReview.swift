/// Names all faults of each photo of an upload. It sees nothing but the photos, so its result discloses nothing about an account.
///
/// A decision has one reason and ends with it. The review continues, so that a person takes all bad photos again at once.
public struct UploadReview: Sendable {
    /// One of the photos.
    public struct Photo: Sendable {
        /// The requested pose; nil where any is right, and where a challenge asks for it: the answer to a challenge has one result for all
        /// faults of poses, which would help an attacker.
        public let pose: FacePose?
        /// The digests of the file and of its picture: photos that have one in common are copies.
        public let digests: [[UInt8]]
        /// The engine's analysis of it.
        public let analysis: PhotoAnalysis

        /// Creates a photo.
        public init(pose: FacePose?, digests: [[UInt8]], analysis: PhotoAnalysis) {
            (self.pose, self.digests, self.analysis) = (pose, digests, analysis)
        }

        /// The turn of the head, where it was measured.
        fileprivate var yaw: Double? {
            switch analysis {
            case .usable(let face): face.yaw
            case .rejected(let faults): faults.yaw
            }
        }

        /// Returns whether a decision takes this photo for a copy of another one. Photos of a template are not compared with those that
        /// answer the challenge, which are of the same poses, but for the same picture.
        fileprivate func isCopy(of other: Photo) -> Bool {
            if digests.contains(where: other.digests.contains) { return true }
            guard (pose == nil) == (other.pose == nil), case .usable(let face) = analysis, case .usable(let theirs) = other.analysis else {
                return false
            }
            return face.isCopy(of: theirs)
        }
    }

    /// Creates the review.
    public init() {}

    /// Returns the faults of each photo, in the order of the photos; none for a good one. Of copies, the first photo is good.
    public func callAsFunction(_ photos: [Photo]) -> [[PhotoFault]] {
        let poses = SignUpPoses(photos.compactMap { photo in photo.pose.flatMap { pose in photo.yaw.map { (pose, $0) } } })
        return photos.enumerated().map { index, photo in
            var faults: [PhotoFault] = []
            if case .rejected(let own) = photo.analysis { faults = own.all }
            if let pose = photo.pose, let yaw = photo.yaw { faults += poses.faults(of: yaw, in: pose) }
            if photos[..<index].contains(where: photo.isCopy) { faults.append(.copyOfAnother) }
            return faults
        }
    }
}
