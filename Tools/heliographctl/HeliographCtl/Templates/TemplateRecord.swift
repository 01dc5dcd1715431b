internal import Storage

/// The JSON form of a picture template.
struct TemplateRecord: Encodable {
    let id: String
    let name: String
    let description: String
    let preview: String?
    let style: String
    let prompt: String
    let negativePrompt: String
    let enabled: Bool
    let position: Int
    /// The final prompt for a generator that reads prompts.
    let instructions: String

    init(_ template: ImageTemplate) {
        id = template.id
        name = template.name
        description = template.description
        preview = template.preview
        style = template.style
        prompt = template.prompt
        negativePrompt = template.negativePrompt
        enabled = template.isEnabled
        position = template.position
        instructions = template.instructions
    }
}
