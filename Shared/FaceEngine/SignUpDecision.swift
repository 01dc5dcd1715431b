/// Decides whether nine photos make a template, from the engine's analyses alone, so that it is tested without pictures.
public struct SignUpDecision: Sendable {
    /// One of the nine photos.
    public struct Photo: Sendable {
        /// The requested pose.
        public let pose: FacePose
        /// The SHA-256 of the file.
        public let digest: [UInt8]
        /// The engine's analysis of it.
        public let analysis: PhotoAnalysis

        /// Creates a photo.
        public init(pose: FacePose, digest: [UInt8], analysis: PhotoAnalysis) {
            self.pose = pose
            self.digest = digest
            self.analysis = analysis
        }
    }

    /// The decision.
    public enum Outcome: Sendable, Equatable {
        /// The photos make this template.
        case accepted(EnrolledFace)
        /// The photos make no template.
        case refused(FaceRefusal)
    }

    /// Maximum number of outliers that may be left out of the template.
    var maxDropped = 1

    private typealias UsablePhoto = (pose: FacePose, face: FaceObservation)

    /// Creates the rules of the decision, with the measured numbers.
    public init() {}

    /// Returns the decision. The order of the checks is: duplicate files, each photo alone, duplicate photos, one person, poses.
    public func callAsFunction(_ photos: [Photo]) -> Outcome {
        guard Set(photos.map(\.digest)).count == photos.count else { return .refused(.duplicateImages) }
        var seen: [UsablePhoto] = []
        for photo in photos {
            switch photo.analysis {
            case .usable(let face): seen.append((photo.pose, face))
            case .rejected(let faults): return .refused(FaceRefusal(faults.first))
            }
        }
        guard !hasDuplicates(seen) else { return .refused(.duplicateImages) }
        guard let kept = withoutOutliers(seen) else { return .refused(.inconsistentFaces) }
        let poses = SignUpPoses(seen.map { ($0.pose, $0.face.yaw) })
        guard seen.allSatisfy({ poses.faults(of: $0.face.yaw, in: $0.pose).isEmpty }) else { return .refused(.poseMismatch) }
        let descriptors = Dictionary(grouping: kept, by: \.pose).mapValues { $0.map(\.face.descriptor) }
        guard let left = descriptors[.left], let right = descriptors[.right], let front = descriptors[.front] else {
            return .refused(.poseMismatch)
        }
        return .accepted(EnrolledFace(left: left, right: right, front: front, isMirrored: poses.isMirrored))
    }

    private func hasDuplicates(_ photos: [UsablePhoto]) -> Bool {
        for (index, photo) in photos.enumerated() {
            for other in photos[(index + 1)...] where photo.face.isCopy(of: other.face) { return true }
        }
        return false
    }

    /// Returns the photos without outliers; nil when they show several people.
    private func withoutOutliers(_ photos: [UsablePhoto]) -> [UsablePhoto]? {
        for (index, photo) in photos.enumerated() {
            for other in photos[(index + 1)...]
            where photo.face.descriptor.distance(to: other.face.descriptor) > FaceThresholds.maxSignUpPair { return nil }
        }
        var kept = photos
        while kept.count > 2 {
            let distances = kept.indices.map { index in
                let others = kept.indices.filter { $0 != index }.map { kept[$0].face.descriptor }
                return FaceDescriptor.mean(others).distance(to: kept[index].face.descriptor)
            }
            guard let worst = distances.max(), worst > FaceThresholds.maxOutlier else { return kept }
            guard photos.count - kept.count < maxDropped, let index = distances.firstIndex(of: worst) else { return nil }
            kept.remove(at: index)
        }
        return kept
    }
}
