/// When two templates are of one person, as it seems.
public enum DuplicateRule {
    /// The greatest distance of the means of two templates of one person: that of two unit vectors, 0 to 2.
    ///
    /// **Provisional**: it is not measured yet on photos of many people, so its rate of wrong matches is not known. An operator looks at
    /// what it finds before anything happens, unless `FACE_DUPLICATES=refuse` is set.
    public static let duplicateThreshold: Float = 0.80

    /// Returns whether two templates are of one person, as it seems.
    public static func matches(_ face: EnrolledFace, _ other: EnrolledFace) -> Bool {
        face.mean.distance(to: other.mean) <= duplicateThreshold
    }
}
