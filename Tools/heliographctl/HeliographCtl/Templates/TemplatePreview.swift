internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import ImageGenerators
internal import ImageProbe
internal import Imaging
internal import Logging
internal import Pictures
internal import ServiceDefaults

/// Makes a picture with a template by the local generator, in the steps of image-worker.
struct TemplatePreview: Sendable {
    private static let timeout: Duration = .seconds(120)
    /// The longer side of the picture in pixels.
    private static let maxSide = 1_024

    let template: ImageTemplate
    let format: ImageFormat

    /// Makes the picture of a photo's file, or of ``SamplePicture``; ends the command with a note when that is not possible.
    func make(of photo: [UInt8]?) async throws -> EncodedPicture {
        guard let style = PictureStyle(rawValue: template.style) else {
            throw failed("the local generator has no style \(template.style)")
        }
        let sandbox = try reporting { try Settings().imageSandbox(deployed: SandboxMode.required, local: .available) }
        let pipeline = ImagePipeline(decoder: ImageDecoder(sandbox: sandbox, logger: .silent))
        let threads = PictureThreads.shared
        do {
            let share: @Sendable () -> Int = { photo.map { PictureMemory.normalising($0, maxSide: Self.maxSide) } ?? 0 }
            let normalised = try await threads.run(taking: share) {
                try photo.map { try pipeline.normalise($0, maxSide: Self.maxSide) } ?? pipeline.normalise(SamplePicture.image)
            }
            let request = GenerationRequest(
                jobID: UUID(),
                template: GenerationTemplate(id: template.id, name: template.name, prompt: template.instructions, style: style),
                picture: normalised.picture, quality: .medium, deadline: .now + Self.timeout)
            let made = try await LocalGenerator(pipeline: pipeline, threads: threads).generate(request)
            let format = format
            return try await threads.run(
                taking: { PictureMemory.finishing(made.bytes, width: nil, height: nil, quality: .medium, limits: ImageLimits()) }
            ) { try pipeline.finish(made.bytes, format: format) }
        } catch let error as ImagingError {
            throw failed("\(error)")
        } catch let error as GenerationError {
            throw failed("\(error)")
        }
    }

    private func failed(_ reason: String) -> ExitCode {
        Console.current.note("No picture was made: \(reason)")
        return .failure
    }
}
