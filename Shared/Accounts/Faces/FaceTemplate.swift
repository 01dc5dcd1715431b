public import FoundationEssentials
internal import PostgresClient

/// An enrolled face: a row of `face_templates`.
public struct FaceTemplate: Sendable, Equatable {
    /// The user whose face it is.
    public let userID: UUID
    /// The network that made the descriptors; only descriptors of one model are comparable.
    public let modelID: String
    /// The version of the steps before the network.
    public let pipelineVersion: Int
    /// The descriptors, sealed with `SealingContext.faceTemplate`.
    public let templateSealed: [UInt8]
    /// When the face was first enrolled.
    public let createdAt: Date
    /// When it was last replaced.
    public let updatedAt: Date

    init(row: PostgresRow) throws(PostgresError) {
        userID = try row.decode("user_id")
        modelID = try row.decode("model_id")
        pipelineVersion = Int(try row.decode("pipeline_version", as: Int32.self))
        templateSealed = try row.decode("template_sealed")
        createdAt = try row.decode("created_at")
        updatedAt = try row.decode("updated_at")
    }
}

/// A face to enrol.
public struct NewFaceTemplate: Sendable {
    /// The user whose face it is.
    public var userID: UUID
    /// The network that made the descriptors.
    public var modelID: String
    /// The version of the steps before the network; at least 1.
    public var pipelineVersion: Int
    /// The descriptors, sealed with `SealingContext.faceTemplate`.
    public var templateSealed: [UInt8]

    /// Describes a face.
    public init(userID: UUID, modelID: String, pipelineVersion: Int, templateSealed: [UInt8]) {
        self.userID = userID
        self.modelID = modelID
        self.pipelineVersion = pipelineVersion
        self.templateSealed = templateSealed
    }
}
