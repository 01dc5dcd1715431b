internal import EventBus
internal import FaceEngine
internal import Foundation
internal import Imaging
internal import ServiceDefaults

/// The settings of face-matching-worker.
struct FaceMatchingConfiguration: Sendable {
    let modelsPath: String
    /// The operator's model of liveness.
    let passiveModelPath: String?
    let sandbox: SandboxMode
    let threshold: Float
    let replayCheck: ReplayCheck
    let duplicates: DuplicatePolicy
    /// The number of engines.
    let threads: Int
    let consumer: EventConsumerConfiguration

    init(_ settings: Settings) throws(ConfigurationError) {
        modelsPath = try settings.faceModelsPath()
        passiveModelPath = try settings.passiveModelPath()
        let isRequired =
            try settings.int(
                "FACE_REQUIRE_PASSIVE", default: 0, in: 0...1, about: "1: the worker does not start without `FACE_PASSIVE_MODEL`") == 1
        guard passiveModelPath != nil || !isRequired else {
            throw ConfigurationError(
                "FACE_PASSIVE_MODEL", "is missing, and FACE_REQUIRE_PASSIVE is 1", expectation: Settings.passiveModelExpectation)
        }
        sandbox = try settings.imageSandbox(deployed: SandboxMode.required, local: .available)
        threshold = try settings.faceThreshold(default: FaceThresholds.standard, in: FaceThresholds.configurable)
        replayCheck = try settings.choice(
            "FACE_REPLAY_CHECK", default: ReplayCheck.photos,
            about: "what may not be sent twice: a photo, also a changed copy of it, or only the same file (for load tests)")
        duplicates = try settings.choice(
            "FACE_DUPLICATES", default: DuplicatePolicy.review,
            about: """
                what happens when the face of a sign-up is that of another account, as it seems: nothing is searched; an operator \
                gets both on a list (`heliographctl faces duplicates list`); or the sign-up fails with `face_in_use`, once its e-mail \
                is proven. A search keeps 150 bytes of each account in memory
                """)
        let cores = min(64, ProcessInfo.processInfo.activeProcessorCount)
        threads =
            try settings.int(
                "FACE_ENGINE_THREADS", in: 1...64, otherwise: "the machine's cores; 2 in compose, 1 on Kubernetes",
                about: "photos that are analysed at the same time") ?? cores
        var consumer = EventConsumerConfiguration()
        consumer.concurrency =
            try settings.int(
                "CONSUMER_CONCURRENCY", in: 1...64, otherwise: "`FACE_ENGINE_THREADS`",
                about: "sessions of a lane that are handled at the same time") ?? threads
        self.consumer = consumer
    }
}
