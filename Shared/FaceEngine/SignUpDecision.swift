/// Decides whether nine photos make a template. It only computes with what the engine saw, so it is tested without pictures.
public struct SignUpDecision: Sendable {
    /// One of the nine.
    public struct Photo: Sendable {
        /// How it was to be taken.
        public let pose: FacePose
        /// The SHA-256 of the file.
        public let digest: [UInt8]
        /// What the engine made of it.
        public let analysis: PhotoAnalysis

        /// Makes a photo.
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
        /// They do not.
        case refused(FaceRefusal)
    }

    /// Straight on is up to this many degrees of turn, turned is from it to ``maxTurn``.
    var frontLimit = 12.0
    /// Turned further, a face is not seen well enough, in degrees.
    var maxTurn = 45.0
    /// How far off a measured turn may be, in degrees.
    var turnTolerance = 3.0
    /// Two photos nearer than this are one photo.
    var duplicateDistance: Float = 0.05
    /// Two photos are mirror images of each other from this correlation on: a mirrored file has 0.93 and more, because
    /// faces are found and cut out anew, and different photos reach 0.80.
    var mirrorCorrelation: Float = 0.90
    /// The greatest distance of a photo from the mean of the others.
    var maxOutlierDistance: Float = 0.50
    /// The greatest distance of any two photos.
    var maxPairDistance: Float = 0.70
    /// How many photos may be left out of the template because they are unlike the others.
    var maxDropped = 1

    private typealias Seen = (pose: FacePose, face: FaceObservation)

    /// Makes the decision's rules, with the measured numbers.
    public init() {}

    /// Decides. The order of the checks is: same file twice, each photo by itself, same photo twice, one person, poses.
    public func callAsFunction(_ photos: [Photo]) -> Outcome {
        guard Set(photos.map(\.digest)).count == photos.count else { return .refused(.duplicateImages) }
        var seen: [Seen] = []
        for photo in photos {
            switch photo.analysis {
            case .usable(let face): seen.append((photo.pose, face))
            case .rejected(let fault): return .refused(FaceRefusal(fault))
            }
        }
        guard !hasDuplicates(seen) else { return .refused(.duplicateImages) }
        guard let kept = withoutOutliers(seen) else { return .refused(.inconsistentFaces) }
        guard let isMirrored = mirroring(seen) else { return .refused(.poseMismatch) }
        let descriptors = Dictionary(grouping: kept, by: \.pose).mapValues { $0.map(\.face.descriptor) }
        guard let left = descriptors[.left], let right = descriptors[.right], let front = descriptors[.front] else {
            return .refused(.poseMismatch)
        }
        return .accepted(EnrolledFace(left: left, right: right, front: front, isMirrored: isMirrored))
    }

    private func hasDuplicates(_ photos: [Seen]) -> Bool {
        for (index, photo) in photos.enumerated() {
            for other in photos[(index + 1)...] {
                if photo.face.descriptor.distance(to: other.face.descriptor) < duplicateDistance { return true }
                if photo.face.signature.mirrorCorrelation(with: other.face.signature) > mirrorCorrelation { return true }
            }
        }
        return false
    }

    /// Returns the photos of one person, or nil when they are of several.
    private func withoutOutliers(_ photos: [Seen]) -> [Seen]? {
        for (index, photo) in photos.enumerated() {
            for other in photos[(index + 1)...]
            where photo.face.descriptor.distance(to: other.face.descriptor) > maxPairDistance { return nil }
        }
        var kept = photos
        while kept.count > 2 {
            let distances = kept.indices.map { index in
                let others = kept.indices.filter { $0 != index }.map { kept[$0].face.descriptor }
                return FaceDescriptor.mean(others).distance(to: kept[index].face.descriptor)
            }
            guard let worst = distances.max(), worst > maxOutlierDistance else { return kept }
            guard photos.count - kept.count < maxDropped, let index = distances.firstIndex(of: worst) else { return nil }
            kept.remove(at: index)
        }
        return kept
    }

    /// Returns whether the camera mirrors, or nil when a head is not turned as was asked for.
    ///
    /// Front cameras often save mirrored pictures, and "to the left" is the person's left to one app and the picture's to
    /// another. So the sign is not prescribed: all of one side must have one sign, and the other side the other.
    private func mirroring(_ photos: [Seen]) -> Bool? {
        let turns = Dictionary(grouping: photos, by: \.pose).mapValues { $0.map(\.face.yaw) }
        guard let left = turns[.left], let right = turns[.right], let front = turns[.front] else { return nil }
        guard front.allSatisfy({ abs($0) <= frontLimit + turnTolerance }) else { return nil }
        let turned = (frontLimit - turnTolerance)...(maxTurn + turnTolerance)
        guard (left + right).allSatisfy({ turned.contains(abs($0)) }) else { return nil }
        if left.allSatisfy({ $0 < 0 }), right.allSatisfy({ $0 > 0 }) { return false }
        if left.allSatisfy({ $0 > 0 }), right.allSatisfy({ $0 < 0 }) { return true }
        return nil
    }
}
